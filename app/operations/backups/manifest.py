"""The manifest of a backup: the release that made it, its contents, and the checksum of every file. Pure."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import IO, Any

from app.domain.shared import strict_json
from app.domain.shared.problems import DomainError

NAME = "manifest.json"
FORMAT = 1
SECRET_KEY = "secret.key"
ERASURES = "erasures.list"
MEDIA = "media/"
DATABASES = {"sqlite": "database.db", "postgresql": "database.dump"}
PICTURE = re.compile(r"media(?:/[A-Za-z0-9_-][A-Za-z0-9._-]*)+", re.ASCII)
CHECKSUM = re.compile(r"[0-9a-f]{64}", re.ASCII)
UNREADABLE = "The manifest of the backup cannot be read: "
BLOCK = 1024 * 1024  # Bytes.


class BackupError(DomainError):
    code = "backup"


class DatabaseInDoubt(BackupError):
    """The database may hold part of a backup."""


@dataclass(frozen=True, slots=True)
class FileEntry:
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Contents:
    """The contents of the copy of the database: its migration, the hosts of its sites, the rows of each table."""

    revision: str
    sites: tuple[str, ...]
    rows: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Manifest:
    """The manifest of a backup. `key` is a fingerprint of SECRET_KEY, which does not reveal it; `is_of_later_release`
    says that the release of `version` did not know the database: a later one had upgraded it. `pictures_elsewhere`
    names the place of the pictures where the backup has none of them, since they are on another machine."""

    version: str
    created_at: datetime
    database: str
    contents: Contents
    key: str
    files: Mapping[str, FileEntry]
    is_of_later_release: bool = False
    pictures_elsewhere: str = ""

    @property
    def database_file(self) -> str:
        return DATABASES[self.database]

    @property
    def pictures(self) -> list[str]:
        return [name for name in self.files if name.startswith(MEDIA)]

    @property
    def bytes(self) -> int:
        return sum(entry.bytes for entry in self.files.values())

    def as_json(self) -> str:
        fields = {"format": FORMAT, **asdict(self), "created_at": self.created_at.isoformat()}
        return json.dumps(fields, ensure_ascii=False, indent=1)


def is_allowed(name: str, database: str) -> bool:
    """Whether a backup of such a database may hold a file of this name: no name leads out of its folder."""
    return name in (DATABASES[database], SECRET_KEY, ERASURES) or (
        PICTURE.fullmatch(name) is not None and ".." not in name
    )


def read_manifest(text: bytes) -> Manifest:
    """Return the manifest in a text. Raises BackupError."""
    try:
        manifest = _parse_manifest(strict_json.loads(text))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise BackupError(f"{UNREADABLE}{error!r}.") from error
    if manifest.database not in DATABASES or manifest.database_file not in manifest.files:
        raise BackupError(f"{UNREADABLE}it names no database.")
    for name, entry in manifest.files.items():
        if not is_allowed(name, manifest.database):
            raise BackupError(f"The backup holds {name!r}, a name that no backup of the shop has.")
        if entry.bytes < 0 or not CHECKSUM.fullmatch(entry.sha256):
            raise BackupError(f"{UNREADABLE}the size or the checksum of {name} is none.")
    return manifest


def _parse_manifest(fields: dict[str, Any]) -> Manifest:
    if fields["format"] != FORMAT:
        raise ValueError(f"format {fields['format']}, this version knows {FORMAT}")
    contents = fields["contents"]
    return Manifest(
        version=str(fields["version"]),
        created_at=datetime.fromisoformat(fields["created_at"]),
        database=str(fields["database"]),
        contents=Contents(str(contents["revision"]), tuple(map(str, contents["sites"])), dict(contents["rows"])),
        key=str(fields["key"]),
        files={str(name): FileEntry(int(file["bytes"]), str(file["sha256"])) for name, file in fields["files"].items()},
        is_of_later_release=bool(fields.get("is_of_later_release")),
        pictures_elsewhere=str(fields.get("pictures_elsewhere") or ""),
    )


def copy_with_checksum(source: IO[bytes], write: Callable[[bytes], object], most: int | None = None) -> FileEntry:
    """Pass a file to `write` block by block, and return its size and checksum. Stops after the block that exceeds
    `most` bytes."""
    checksum, size = hashlib.sha256(), 0
    while block := source.read(BLOCK):
        checksum.update(block)
        size += len(block)
        write(block)
        if most is not None and size > most:
            break
    return FileEntry(size, checksum.hexdigest())
