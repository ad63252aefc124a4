#!/usr/bin/env python3
"""Write the schemas that the files of deploy/ are compared with, into tests/architecture/schemas: that of Compose files
from the library that `docker compose` reads them with, and of each kind of Kubernetes object that deploy/kubernetes
uses its strict schema, which refuses unknown fields, without descriptions.

It needs Go: `go mod download` fetches the library and compares it with Go's checksum database. The schemas of
Kubernetes come with pip, from a wheel of WHEEL_SHA256. Run it again for a newer version, or when a kind is used for the
first time.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
SCHEMAS = ROOT / "tests" / "architecture" / "schemas"
COMPOSE = ("github.com/compose-spec/compose-go/v2", "v2.16.2")
KUBERNETES, WHEEL_VERSION = "1.37", "1.37.0"
WHEEL_SHA256 = "85136d018a27b50ec7fc049d902bfa5193f5976807e6c0f408e3ab6fe078cad9"
IN_WHEEL = f"kubernetes_validate/kubernetes-json-schema/v{WHEEL_VERSION}-local-strict"
DEFINITIONS = "_definitions.json"


def main() -> int:
    with tempfile.TemporaryDirectory() as place:
        compose, kubernetes = fetch_compose(Path(place)), fetch_kubernetes(Path(place))
    write("compose", f"compose-spec.json of {'@'.join(COMPOSE)}, Apache-2.0", compose)
    write("kubernetes", f"Kubernetes {KUBERNETES}, of kubernetes-validate {WHEEL_VERSION}, Apache-2.0", kubernetes)
    return 0


def fetch_compose(place: Path) -> dict[str, Any]:
    """Return the schema of Compose files."""
    (place / "go.mod").write_text("module schemas\n")
    command = ["go", "mod", "download", "-json", "@".join(COMPOSE)]
    fetched = json.loads(subprocess.run(command, cwd=place, check=True, capture_output=True).stdout)
    schema: dict[str, Any] = json.loads((Path(fetched["Dir"]) / "schema" / "compose-spec.json").read_text())
    return without_descriptions(schema)


def fetch_kubernetes(place: Path) -> dict[str, Any]:
    """Return one schema of all used kinds, by `kind-apiVersion`, with the definitions that they refer to."""
    wheel = f"kubernetes-validate=={WHEEL_VERSION}"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(place), wheel]
    subprocess.run(command, check=True)
    (archive,) = place.glob("*.whl")
    if (found := hashlib.sha256(archive.read_bytes()).hexdigest()) != WHEEL_SHA256:
        sys.exit(f"{archive.name} has the SHA-256 {found}, not the one of this script.")
    with zipfile.ZipFile(archive) as packed:
        definitions = json.loads(packed.read(f"{IN_WHEEL}/{DEFINITIONS}"))["$defs"]
        kinds = {name: json.loads(packed.read(f"{IN_WHEEL}/{name}.json")) for name in sorted(used_kinds())}
    return collect(kinds, definitions)


def used_kinds() -> set[str]:
    """Return the kinds of the objects in deploy/kubernetes, named as the wheel's files are: deployment-apps-v1."""
    files = sorted((ROOT / "deploy" / "kubernetes").glob("*.yaml"))
    objects = [each for file in files for each in yaml.safe_load_all(file.read_text()) if each]
    return {kind_of(each) for each in objects}


def kind_of(described: dict[str, Any]) -> str:
    """Return the kind of an object and its version, the domain of the group left out: ingress-networking-v1."""
    group, _, version = described["apiVersion"].rpartition("/")
    return "-".join(filter(None, (described["kind"].lower(), group.partition(".")[0], version)))


def collect(kinds: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """Return the kinds with the definitions that they and these refer to."""
    collected: dict[str, Any] = {}
    waiting = list(references(kinds))
    while waiting:
        if (name := waiting.pop()) not in collected:
            collected[name] = definitions[name]
            waiting += references(definitions[name])
    text = json.dumps(without_descriptions({"kinds": kinds, "$defs": collected}))
    found: dict[str, Any] = json.loads(text.replace(f"/api/{DEFINITIONS}#", "#"))
    return found


def references(schema: Any) -> Iterator[str]:
    """Yield the names of the definitions that a schema refers to."""
    if isinstance(schema, dict):
        if isinstance(target := schema.get("$ref"), str):
            yield target.rpartition("/")[2]
        schema = list(schema.values())
    if isinstance(schema, list):
        for each in schema:
            yield from references(each)


def without_descriptions(schema: Any) -> Any:
    """Return a schema without what only explains it, nor the addresses by which it would be looked for elsewhere."""
    if isinstance(schema, list):
        return [without_descriptions(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    left_out = [name for name, value in schema.items() if name in ("description", "$id") and isinstance(value, str)]
    left_out += [name for name in schema if name.startswith("x-kubernetes")]
    return {name: without_descriptions(value) for name, value in schema.items() if name not in left_out}


def write(name: str, source: str, schema: dict[str, Any]) -> None:
    SCHEMAS.mkdir(exist_ok=True)
    text = json.dumps({"$comment": source, **schema}, sort_keys=True, separators=(",", ":"))
    (SCHEMAS / f"{name}.json").write_text(text.replace(',"', ',\n"') + "\n")


if __name__ == "__main__":
    sys.exit(main())
