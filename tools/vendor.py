#!/usr/bin/env python3
"""Fetch the files of others that the pages load, as tools/vendored.toml names them, into app/static/vendor.

`tools/vendor.py` fetches with npm, compares each package with its integrity in the table, and writes its file and its
licence, both with the version in their names, and SHA256SUMS. `tools/vendor.py --check` fetches nothing: it compares
what is there with the table and with SHA256SUMS.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SUMS = "SHA256SUMS"


class VendorError(Exception):
    """A package is not the one that the table names; the message says why."""


class Package(NamedTuple):
    """A package of npm. `file` is what is taken of it and `vendored` its name without the version; both are empty for
    a package whose code is in the file of another."""

    name: str
    version: str
    integrity: str
    licence: str = "LICENSE"
    file: str = ""
    vendored: str = ""
    bundled: tuple[Package, ...] = ()

    @property
    def file_name(self) -> str:
        stem, _, suffix = self.vendored.partition(".")
        return f"{stem}-{self.version}.{suffix}"

    @property
    def licence_name(self) -> str:
        return f"{self.vendored.partition('.')[0]}-{self.version}.LICENSE.txt"


def main(root: Path, check: bool) -> int:
    folder, packages = root / "app" / "static" / "vendor", read_table(root)
    if not check:
        try:
            fetched = fetch_all(packages)
        except VendorError as error:
            print(error)
            return 1
        write(folder, fetched)
    problems = list(differences(folder, packages))
    print("\n".join(problems) or f"{len(packages)} packages, as the table names them.")
    return 1 if problems else 0


def read_table(root: Path) -> list[Package]:
    table = tomllib.loads((root / "tools" / "vendored.toml").read_text(encoding="utf-8"))
    return [
        Package(**row | {"bundled": tuple(Package(**inner) for inner in row.get("bundled", ()))})
        for row in table["package"]
    ]


def fetch_all(packages: list[Package]) -> dict[str, bytes]:
    """Return the contents of the vendored files by name. Raises VendorError."""
    fetched = {}
    for package in packages:
        with tempfile.TemporaryDirectory() as place:
            files = fetch(package, Path(place), package.file, package.licence)
            licences = [files[package.licence]]
            for bundled in package.bundled:
                licences.append(licence_of(bundled, Path(place)))
        fetched |= {package.file_name: files[package.file], package.licence_name: b"".join(licences)}
    return fetched


def licence_of(bundled: Package, place: Path) -> bytes:
    """Return the licence of a package whose code is in the file of another; where it has no such file, the name of the
    licence. Raises VendorError."""
    files = fetch(bundled, place, bundled.licence or "package.json")
    text = files.get(bundled.licence) or f"Licence: {json.loads(files['package.json'])['license']}\n".encode()
    return f"\n{'-' * 80}\n{bundled.name} {bundled.version}, whose code the file contains:\n\n".encode() + text


def fetch(package: Package, place: Path, *files: str) -> dict[str, bytes]:
    """Return the contents of files of a package by path. Raises VendorError."""
    command = ["npm", "pack", "--silent", f"{package.name}@{package.version}", "--pack-destination", str(place)]
    packed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1]
    return unpack(package, place / packed, *files)


def unpack(package: Package, archive: Path, *files: str) -> dict[str, bytes]:
    """Return the contents of files of a package by path. Raises VendorError where it is not the one of the table."""
    digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if f"sha512-{digest}" != package.integrity:
        raise VendorError(f"{package.name} {package.version} is not what the table names, but sha512-{digest}.")
    with tarfile.open(archive) as packed:
        members = {member.name.partition("/")[2]: member for member in packed.getmembers() if member.isfile()}
        if missing := [file for file in files if file not in members]:
            raise VendorError(f"{package.name} {package.version} has no {', '.join(missing)}.")
        return {file: packed.extractfile(members[file]).read() for file in files}  # type: ignore[union-attr]


def write(folder: Path, fetched: dict[str, bytes]) -> None:
    """Replace all that is in the folder."""
    for file in folder.iterdir():
        if file.name not in fetched:
            file.unlink()
    for name, content in fetched.items():
        (folder / name).write_bytes(content)
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in fetched.items()}
    (folder / SUMS).write_text("".join(f"{sums[name]}  {name}\n" for name in sorted(sums)), encoding="utf-8")


def differences(folder: Path, packages: list[Package]) -> Iterator[str]:
    """Yield a sentence for each file that is missing, changed, or that the table does not name."""
    listed = dict(reversed(line.split("  ")) for line in (folder / SUMS).read_text(encoding="utf-8").splitlines())
    named = {name for package in packages for name in (package.file_name, package.licence_name)}
    there = {file.name for file in folder.iterdir()} - {SUMS}
    yield from (f"{name} is in the table, but not in the folder." for name in sorted(named - there))
    yield from (f"{name} is in the folder, but not in the table." for name in sorted(there - named))
    for name in sorted(there):
        if hashlib.sha256((folder / name).read_bytes()).hexdigest() != listed.get(name):
            yield f"{name} is not the one that {SUMS} lists."
    yield from (f"{name} is listed, but not in the folder." for name in sorted(listed.keys() - there))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="fetch nothing, compare only")
    sys.exit(main(ROOT, parser.parse_args().check))
