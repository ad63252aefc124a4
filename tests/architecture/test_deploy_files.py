"""The files of deploy/ fit the shop and each other. `tools/try-deploy` runs them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from app.config import from_environment
from tests.surroundings import ROOT, missing

DEPLOY = ROOT / "deploy"
UNITS = sorted(file for folder in ("systemd", "parts") for file in (DEPLOY / folder).iterdir() if file.is_file())
PARTS = sorted((DEPLOY / "parts").glob("*.service"))
COMMON = "shop-.service.d"  # What systemd adds to every unit whose name begins with shop-.


def example() -> dict[str, str]:
    lines = (DEPLOY / "shop.env.example").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def test_the_example_of_settings_is_production_behind_one_proxy() -> None:
    config = from_environment(example() | {"SECRET_KEY": "x" * 64})
    assert config.production and config.trusted_proxies == 1
    assert str(config.backup_dir) in (DEPLOY / "systemd" / "shop-backup.service").read_text()


def test_proxies_and_socket_name_the_ports_of_the_example() -> None:
    config = from_environment(example() | {"SECRET_KEY": "x" * 64})
    for name in ("Caddyfile", "nginx.conf", "systemd/shop.socket"):
        ports = set(re.findall(r"127[.]0[.]0[.]1:([0-9]+)", (DEPLOY / name).read_text()))
        assert ports <= {str(config.port), str(config.mcp_port)} and str(config.port) in ports, name


@pytest.mark.parametrize("name", ["systemd/shop.service", f"parts/{COMMON}/common.conf", "shop"])
def test_large_files_wait_on_a_disk_and_not_in_memory(name: str) -> None:
    assert "TMPDIR=/var/tmp" in (DEPLOY / name).read_text()


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_takes_the_units(unit: Path, tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        missing("systemd is not installed")
    shutil.copytree(DEPLOY / "parts" / COMMON, tmp_path / COMMON)
    for each in UNITS:
        installed = re.sub(
            "/opt/shop/[a-z0-9%/]+/(.venv/bin/python|deploy/part) ", f"{sys.executable} ", each.read_text()
        )
        (tmp_path / each.name).write_text(installed)
    done = subprocess.run(
        ["systemd-analyze", "verify", str(tmp_path / unit.name)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_part_that_runs_reads_nothing_of_the_release_that_comes_after_it(tmp_path: Path) -> None:
    for release in ("1", "2"):
        folder = tmp_path / "releases" / release
        (folder / "deploy").mkdir(parents=True)
        shutil.copy(DEPLOY / "part", folder / "deploy")
        (folder / ".venv" / "bin").mkdir(parents=True)
        (folder / ".venv" / "bin" / "python").symlink_to(sys.executable)
        (folder / "late.py").write_text(f"print('late import of release {release}')\n")
    current = tmp_path / "current"
    current.symlink_to(tmp_path / "releases" / "1")
    program = "import sys; print(sys.executable, flush=True); sys.stdin.readline(); import late"
    command = [current / "deploy" / "part", "-c", program]
    with subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as part:
        assert part.stdout is not None
        started = part.stdout.readline().strip()
        current.unlink()
        current.symlink_to(tmp_path / "releases" / "2")
        said, _ = part.communicate("go on\n")
    assert (started, said) == (f"{tmp_path}/releases/1/.venv/bin/python", "late import of release 1\n")


def test_each_part_is_started_by_the_file_that_follows_the_link_once() -> None:
    started = {unit.name: re.findall("^ExecStart=(\\S+)", unit.read_text(), re.MULTILINE) for unit in PARTS}
    assert started.pop("shop-migrate@.service") == ["/opt/shop/releases/%i/deploy/part"], "before the link leads there"
    assert len(started) == 4 and set(map(tuple, started.values())) == {("/opt/shop/current/deploy/part",)}
    settings = (DEPLOY / "parts" / COMMON / "common.conf").read_text()
    assert "/opt/shop/" not in settings
    assert os.access(DEPLOY / "part", os.X_OK)


def test_the_page_on_several_machines_names_units_and_variables_that_there_are() -> None:
    page = (ROOT / "docs" / "deploy.md").read_text().partition("\n## Several machines\n")[2].partition("\n## ")[0]
    units = set(re.findall(r"shop-[a-z]+(?:@\d)?[.](?:service|timer|target)", page))
    assert {"shop-migrate@1.service", "shop-mcp.service", "shop-backup.timer", "shop-parts.target"} <= units
    assert {re.sub(r"@\d", "@", unit) for unit in units} <= {unit.name for unit in UNITS}
    addresses = set(re.findall(r"\{\$(\w+):", (DEPLOY / "Caddyfile.machines").read_text()))
    assert addresses == set(re.findall(r"'Environment=\"?(\w+)=", page))
    switched_off = re.search(r"`sed -i '(s/[^']+)' /etc/shop/shop.env`", page)
    assert switched_off and switched_off[1] == "s/^BACKUP_DIR=/#&/" and "BACKUP_DIR" in example()
