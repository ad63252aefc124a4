"""The target of an export: a new folder, or a .zip that appears whole. The same shop gives the same bytes."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Protocol

from app.domain.shared.problems import Conflict

SAME_TIME = (1980, 1, 1, 0, 0, 0)


class Target(Protocol):
    def open(self, name: str) -> IO[bytes]:
        """Open a new file of the bundle for writing."""
        ...


@contextmanager
def open_target(path: Path) -> Iterator[Target]:
    """Open the target of an export. Raises Conflict when there is something that would be overwritten."""
    try:
        if path.suffix == ".zip":
            with _zip(path) as target:
                yield target
        else:
            yield _folder(path)
    except OSError as error:
        raise Conflict(f"{error.filename or path} cannot be written: {error.strerror}.") from error


class _Folder:
    def __init__(self, path: Path) -> None:
        self._path = path

    def open(self, name: str) -> IO[bytes]:
        file = self._path / name
        file.parent.mkdir(exist_ok=True)
        return file.open("wb")


def _folder(path: Path) -> Target:
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise Conflict(f"{path} is there already and not an empty folder.")
    path.mkdir(parents=True, exist_ok=True)
    return _Folder(path)


class _Zip:
    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    def open(self, name: str) -> IO[bytes]:
        member = zipfile.ZipInfo(name, SAME_TIME)
        member.compress_type = zipfile.ZIP_STORED if name.endswith(".webp") else zipfile.ZIP_DEFLATED
        member.external_attr = 0o100644 << 16
        return self._archive.open(member, "w", force_zip64=True)


@contextmanager
def _zip(path: Path) -> Iterator[Target]:
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with zipfile.ZipFile(fresh, "w") as archive:
            yield _Zip(archive)
        os.replace(fresh, path)
    finally:
        fresh.unlink(missing_ok=True)


def write_document(target: Target, name: str, content: Any) -> None:
    with target.open(name) as file:
        file.write(json.dumps(content, ensure_ascii=False, indent=1).encode() + b"\n")


def write_rows(target: Target, name: str, rows: Iterable[dict[str, Any]]) -> int:
    """Write rows to a file of the target, a line of JSON each, and return their number."""
    count = 0
    with target.open(name) as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
            count += 1
    return count
