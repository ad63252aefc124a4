"""The files of deploy/ for several machines fit the shop, each other, and the schemas of Compose and Kubernetes."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from app.adapters.queue import KINDS
from app.config import from_environment
from app.operations.supervisor.parts import SECONDS_TO_STOP
from app.web.server.server import SECONDS_TO_DRAIN
from tests.surroundings import ROOT, missing
from tools.schemas import SCHEMAS, kind_of

DEPLOY = ROOT / "deploy"
OBJECTS = [
    (file.name, each)
    for file in sorted((DEPLOY / "kubernetes").glob("*.yaml"))
    for each in yaml.safe_load_all(file.read_text())
]
READ_BY_CONFIG = {
    name
    for module in (ROOT / "app" / "config").glob("*.py")
    for name in re.findall(r'"([A-Z][A-Z0-9_]+)"', module.read_text())
}
BACKUPS = "backups:/var/backups/shop"
OF_THE_SYSTEM = {"PATH", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "TMPDIR"}


def compose() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return read


def object_of(kind: str, name: str) -> dict[str, Any]:
    return next(each for _, each in OBJECTS if (each["kind"], each["metadata"]["name"]) == (kind, name))


def services_of_the_shop() -> dict[str, dict[str, Any]]:
    return {name: each for name, each in compose()["services"].items() if each["image"].startswith("shop:")}


def example(name: str) -> dict[str, str]:
    """The settings of an example, those that are commented out as well."""
    lines = re.findall(r"^#?([A-Z][A-Z0-9_]*)=(.*)$", (DEPLOY / name).read_text(), re.MULTILINE)
    return dict(lines)


def substituted() -> set[str]:
    """The variables that compose.yaml takes from its own environment."""
    return set(re.findall(r"(?<!\$)\$\{([A-Z0-9_]+)", (DEPLOY / "compose.yaml").read_text()))


def settings_of_kubernetes() -> dict[str, str]:
    return {**object_of("ConfigMap", "shop")["data"], **object_of("Secret", "shop")["stringData"]}


def named_settings() -> Iterator[tuple[str, str]]:
    """Where a setting of the shop is named, and its name."""
    for name, service in services_of_the_shop().items():
        yield from (("compose.yaml: " + name, setting) for setting in service["environment"])
    for name in example("compose.env.example").keys() - substituted():
        yield "compose.env.example", name
    yield from (("shop.env.example", name) for name in example("shop.env.example"))
    yield from (("kubernetes/settings.yaml", name) for name in settings_of_kubernetes())
    dockerfile = (ROOT / "Dockerfile").read_text()
    yield from (("Dockerfile", name) for name in re.findall(r"^(?:ENV|   ) ([A-Z_]+)=", dockerfile, re.MULTILINE))
    for unit in DEPLOY.glob("*/**/*.*"):
        if unit.suffix in (".service", ".conf"):
            names = re.findall(r"^Environment=([A-Z_]+)=", unit.read_text(), re.MULTILINE)
            yield from ((unit.name, name) for name in names)


def test_every_setting_that_is_named_is_one_of_the_shop() -> None:
    named = list(named_settings())
    assert {"SECRET_KEY", "DRAIN_SECONDS", "SHOP_ENV", "INSTANCE_DIR"} <= {name for _, name in named}
    known = READ_BY_CONFIG | OF_THE_SYSTEM
    assert [(place, name) for place, name in named if name not in known] == []


def test_the_settings_of_kubernetes_start_the_shop(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").touch()
    filled = {name: value or "x" * 64 for name, value in settings_of_kubernetes().items()}
    filled |= {"INSTANCE_DIR": str(tmp_path), "OPENSEARCH_CA": str(tmp_path / "ca.pem")}
    config = from_environment(filled)
    assert config.production and config.drain_seconds == 10 and config.mail_from


def test_compose_takes_its_file() -> None:
    validator = Draft202012Validator(json.loads((SCHEMAS / "compose.json").read_text()))
    assert [f"{error.json_path}: {error.message}" for error in validator.iter_errors(compose())] == []
    spoilt = compose()
    spoilt["services"]["db"]["restarts"] = "always"
    assert not validator.is_valid(spoilt), "unknown words are refused"


def runs(command: list[str]) -> bool:
    found = shutil.which(command[0])
    return bool(found) and not subprocess.run([*command, "version"], capture_output=True, check=False).returncode


def test_compose_itself_takes_its_file_where_it_is_installed(tmp_path: Path) -> None:
    installed = next(filter(runs, (["docker", "compose"], ["docker-compose"])), None)
    if installed is None:
        pytest.skip("Docker Compose is not installed; its schema is compared all the same")
    filled = "".join(f"{name}={value or 'x' * 40}\n" for name, value in example("compose.env.example").items())
    shutil.copytree(DEPLOY, tmp_path / "deploy")
    (tmp_path / "deploy" / ".env").write_text(filled)
    command = [*installed, "--file", str(tmp_path / "deploy" / "compose.yaml"), "config", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_example_has_what_compose_takes_from_it_and_no_secret() -> None:
    named = example("compose.env.example")
    assert substituted() <= named.keys()
    secrets = {name: value for name, value in named.items() if re.search("PASSWORD|SECRET", name)}
    assert len(secrets) >= 5 and set(secrets.values()) == {""}


@pytest.mark.parametrize(("file", "described"), OBJECTS, ids=[f"{name}-{each['kind']}" for name, each in OBJECTS])
def test_kubernetes_takes_the_objects(file: str, described: dict[str, Any]) -> None:
    schema = json.loads((SCHEMAS / "kubernetes.json").read_text())
    kind = kind_of(described)
    assert kind in schema["kinds"], "tools/schemas.py adds the kind"
    validator = Draft202012Validator({**schema, "$ref": f"#/kinds/{kind}"})
    assert [f"{error.json_path}: {error.message}" for error in validator.iter_errors(described)] == []
    assert not validator.is_valid({**described, "specification": {}}), "unknown words are refused"


def pods() -> Iterator[tuple[str, dict[str, Any]]]:
    for file, each in OBJECTS:
        if "template" in each.get("spec", {}):
            yield file, each["spec"]["template"]["spec"]


def test_pods_keep_to_the_restricted_profile_and_find_what_they_mount() -> None:
    found = dict(pods())
    assert found.keys() == {"shop.yaml", "migrate.yaml"}
    claimed = {each["metadata"]["name"] for each in object_of("StatefulSet", "shop")["spec"]["volumeClaimTemplates"]}
    for pod in found.values():
        assert pod["securityContext"]["runAsNonRoot"] and not pod["automountServiceAccountToken"]
        (container,) = pod["containers"]
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        volumes = {volume["name"] for volume in pod["volumes"]} | claimed
        assert {mount["name"] for mount in container["volumeMounts"]} <= volumes
        for source in container["envFrom"]:
            ((kind, named),) = source.items()
            assert object_of({"configMapRef": "ConfigMap", "secretRef": "Secret"}[kind], named["name"])


def test_what_settings_says_may_be_left_out_keeps_no_pod_waiting() -> None:
    (said,) = re.findall(r"Leave it out.*?name: (\S+)", (DEPLOY / "kubernetes" / "settings.yaml").read_text(), re.S)
    found = [
        volume for _, pod in pods() for volume in pod["volumes"] if volume.get("configMap", {}).get("name") == said
    ]
    assert [volume["configMap"]["optional"] for volume in found] == [True, True]


def test_services_and_ingress_lead_to_ports_of_pods() -> None:
    pod = object_of("StatefulSet", "shop")["spec"]["template"]
    ports = {port["name"]: port["containerPort"] for port in pod["spec"]["containers"][0]["ports"]}
    service = object_of("Service", "shop")["spec"]
    assert service["selector"].items() <= pod["metadata"]["labels"].items()
    assert {port["name"]: port["port"] for port in service["ports"]} == ports == {"http": 8000, "mcp": 8001}
    rules = [rule for _, each in OBJECTS if each["kind"] == "Ingress" for rule in each["spec"]["rules"]]
    assert len(rules) == 2
    backends = [path["backend"]["service"] for rule in rules for path in rule["http"]["paths"]]
    assert {backend["name"] for backend in backends} == {"shop"}
    assert {backend["port"]["name"] for backend in backends} == {"http", "mcp"}


def seconds(text: str) -> int:
    number: str = re.fullmatch(r"(\d+)s?", text)[1]  # type: ignore[index]
    return int(number)


def test_whatever_stops_a_web_server_waits_until_it_has_ended() -> None:
    drain = int(object_of("ConfigMap", "shop")["data"]["DRAIN_SECONDS"])
    pod = object_of("StatefulSet", "shop")["spec"]["template"]["spec"]
    assert pod["terminationGracePeriodSeconds"] > drain + SECONDS_TO_STOP
    for name in ("web-1", "web-2"):
        service = services_of_the_shop()[name]
        drain = int(service["environment"]["DRAIN_SECONDS"])
        assert seconds(service["stop_grace_period"]) > drain + SECONDS_TO_DRAIN
    unit = (DEPLOY / "parts" / "shop-web@.service").read_text()
    assert seconds(re.search("TimeoutStopSec=(.*)", unit)[1]) > drain + SECONDS_TO_DRAIN  # type: ignore[index]


def commands() -> Iterator[tuple[str, list[str]]]:
    """Where a part of the shop is started, or one command again and again, and its words."""
    for name, service in services_of_the_shop().items():
        shell = re.fullmatch("while :; do (.*); sleep [0-9]+; done", service["command"][-1])
        yield name, shell[1].split() if shell else service["command"]
    for file, pod in pods():
        yield file, pod["containers"][0]["command"]
    for unit in (DEPLOY / "parts").glob("*.service"):
        yield unit.name, re.search("^ExecStart=(.*)$", unit.read_text(), re.MULTILINE)[1].split()  # type: ignore[index]


@pytest.mark.parametrize(("place", "command"), list(commands()), ids=[place for place, _ in commands()])
def test_commands_start_parts_of_the_shop(place: str, command: list[str]) -> None:
    python, program, *arguments = command
    assert Path(python).name == ("part" if place.endswith(".service") else "python")
    if program == "-m":
        assert find_spec(arguments[0])
    else:
        assert Path(program).name == "worker.py" and set(arguments) <= {*KINDS, "%i"}


def test_the_two_machines_of_compose_are_alike_and_share_no_folder() -> None:
    services = services_of_the_shop()
    machines: dict[str, dict[str, Any]] = {"1": {}, "2": {}}
    for name, service in services.items():
        part, _, number = name.rpartition("-")
        if number in machines:
            folders = [each for each in service["volumes"] if isinstance(each, str) and not each.startswith("./")]
            assert folders == [f"shop-{number}:/var/lib/shop", *([BACKUPS] if number == "1" else [])]
            assert service["hostname"] == f"machine-{number}"
            rest = [each for each in service["volumes"] if each not in folders]
            own = {"volumes": rest, "hostname": "", "environment": {**service["environment"], "BACKUP_DIR": ""}}
            machines[number][part] = {**service, **own}
    assert machines["1"] == machines["2"] and machines["1"].keys() == {"web", "worker", "builds", "scheduler"}


def test_the_parts_of_one_machine_of_compose_have_one_name() -> None:
    names: dict[str, set[str]] = {}
    for service in services_of_the_shop().values():
        (folder,) = [each for each in service["volumes"] if str(each).startswith("shop-")]
        names.setdefault(folder, set()).add(service["hostname"])
    assert sorted(names.values(), key=str) == [{"machine-1"}, {"machine-2"}]


def test_compose_makes_backups_where_the_first_machine_looks_for_them_and_no_other_machine_misses_any() -> None:
    services = services_of_the_shop()
    looks_in = {name: service["environment"]["BACKUP_DIR"] for name, service in services.items()}
    folder = BACKUPS.partition(":")[2]
    assert (looks_in["scheduler-1"], looks_in["scheduler-2"]) == (folder, "")
    assert BACKUPS in services["scheduler-1"]["volumes"] and BACKUPS in services["backup"]["volumes"]
    assert f" backup {folder} " in services["backup"]["command"][-1]
    installed = re.search("install --directory .*--owner shop.*", (ROOT / "Dockerfile").read_text())
    assert installed and folder in installed[0].split(), "a new volume belongs to whom its folder in the image does"


def test_the_proxy_leads_to_the_web_servers_of_compose() -> None:
    text = (DEPLOY / "Caddyfile.machines").read_text()
    upstreams = re.findall(r"([a-z0-9-]+):(\d+)", " ".join(re.findall(r"\{\$SHOP_(?:WEB|MCP):([^}]*)\}", text)))
    assert set(upstreams) == {("mcp", "8001"), ("web-1", "8000"), ("web-2", "8000")}
    assert {name for name, _ in upstreams} <= services_of_the_shop().keys()


def test_whatever_the_program_reads_beside_its_code_is_in_the_image() -> None:
    at_the_top = {path.name for path in ROOT.iterdir()}
    code = "".join(module.read_text() for module in (ROOT / "app").rglob("*.py"))
    read = {name for name in re.findall(r'(?:ROOT|folder|parents\[\d\]) / "([^"]+)"', code) if name in at_the_top}
    assert {"docs", "migrations", "pyproject.toml", "worker.py"} <= read
    copied = {
        name
        for names in re.findall(r"^COPY (?!--from)(.+) \S+$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
        for name in names.split()
    }
    sent_to_the_builder = set(re.findall(r"^!(.+)$", (ROOT / ".dockerignore").read_text(), re.MULTILINE))
    assert read <= copied <= sent_to_the_builder


def test_the_certificate_of_opensearch_passes_the_strict_check_of_newer_pythons(tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        missing("openssl is not installed")
    command = [DEPLOY / "make-certificates", tmp_path, "search", "search-2"]
    made = subprocess.run(command, capture_output=True, check=False)
    assert made.returncode == 0, made.stderr
    strictly = ["openssl", "verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", tmp_path / "ca.pem"]
    for host, is_named in (("search", True), ("search-2", True), ("elsewhere", False)):
        verified = [*strictly, "-verify_hostname", host, tmp_path / "node.pem"]
        done = subprocess.run(verified, capture_output=True, text=True, check=False)
        assert (done.returncode == 0) is is_named, done.stderr


def test_opensearch_is_of_the_version_that_was_tried() -> None:
    image = compose()["services"]["opensearch"]["image"]
    assert image.rpartition(":")[2] in (ROOT / "tools" / "opensearch").read_text()
