"""The list of erasures, kept outside the database: a restored backup brings erased people back, and by this list they
are erased again. It holds keyed hashes alone. Pure."""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from app.domain.shared.clock import rfc3339

KEY = "erasures"  # The purpose of the key of its hashes.


class KnownBy(StrEnum):
    """The identifier by which a person was known."""

    EMAIL = "email"
    ORDER = "order"


class ErasureList(Protocol):
    """The list of erasures: lines that stay, on this machine or where all machines of the shop reach them
    (`is_shared`). `place` names where, for the owner. Every method raises OSError where that does not answer or
    refuses."""

    @property
    def is_shared(self) -> bool: ...

    @property
    def place(self) -> str: ...

    def append(self, line: str) -> None:
        """Append a line, which is kept for good once it returns."""
        ...

    def lines(self) -> list[str]:
        """Return the lines, in any order."""
        ...

    def check(self) -> None:
        """Check that a line can be appended."""
        ...


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


def copy_erasures(source: Iterable[str], target: ErasureList) -> int:
    """Append the lines that the target lacks, and return how many. Raises OSError."""
    present = set(target.lines())
    missing = [line for line in dict.fromkeys(source) if line.strip() and line not in present]
    for line in missing:
        target.append(line)
    return len(missing)
