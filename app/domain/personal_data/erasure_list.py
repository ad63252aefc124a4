"""The list of erasures, kept outside the database: a restored backup brings erased people back, and by this list they
are erased again. It holds keyed hashes alone. Pure."""

from __future__ import annotations

import fcntl
import hmac
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from app.domain.shared.times import rfc3339

KEY = "erasures"  # The purpose of the key of its hashes.


class KnownBy(StrEnum):
    """The identifier by which a person was known."""

    EMAIL = "email"
    ORDER = "order"


class ErasureList:
    """A file of lines, which are on the disk before an erasure counts as done."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def append(self, line: str) -> None:
        """Append a line, which is kept for good once it returns. Raises OSError."""
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self._file, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(descriptor, "r+b", buffering=0) as kept:
            fcntl.flock(kept, fcntl.LOCK_EX)
            size = os.fstat(descriptor).st_size
            # A full disk may have cut off the last line.
            missing_end = b"\n" if size and os.pread(descriptor, 1, size - 1) != b"\n" else b""
            kept.write(missing_end + line.encode() + b"\n")
            os.fsync(descriptor)

    def lines(self) -> list[str]:
        """Return the lines of the file, none where it does not exist yet. Raises OSError where it cannot be read."""
        try:
            return self._file.read_text(errors="replace").splitlines()
        except FileNotFoundError:
            return []


@dataclass(frozen=True, slots=True)
class Erasures:
    """The erasures of the list, the latest of each person; `key` is the secret of the hashes."""

    key: bytes
    at_by_hash: Mapping[str, datetime]

    @classmethod
    def read(cls, key: bytes, lines: Iterable[str]) -> Erasures:
        """Return the erasures that the lines name. A line that cannot be read, such as one that a full disk cut off, is
        passed over."""
        found: dict[str, datetime] = {}
        for line in lines:
            try:
                entry = json.loads(line)
                digest, at = str(entry["hash"]), datetime.fromisoformat(entry["at"])
            except (ValueError, KeyError, TypeError):
                continue
            found[digest] = max(at, found.get(digest, at))
        return cls(key, found)

    def erased_at(self, site_id: int, kind: KnownBy, value: str) -> datetime | None:
        """Return the time at which the person was erased last; None for one who never was."""
        return self.at_by_hash.get(digest_of(self.key, site_id, kind, value))


def digest_of(key: bytes, site_id: int, kind: KnownBy, value: str) -> str:
    return hmac.digest(key, "\0".join((str(site_id), kind.value, value)).encode(), "sha256").hex()


def line_of(key: bytes, site_id: int, kind: KnownBy, value: str, at: datetime) -> str:
    return json.dumps({"at": rfc3339(at), "site": site_id, "hash": digest_of(key, site_id, kind, value)})
