"""The checksum of a table's values, the same on every database. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

BITS = 128


@dataclass(slots=True)
class TableSum:
    """The number of rows and the sum of their hashes: databases sort texts differently, so the order has no part in
    it."""

    rows: int = 0
    checksum: int = 0

    def add(self, values: Sequence[Any]) -> None:
        """Add a row. Values in JSON are lists and objects, and times have a zone."""
        written = repr([_in_one_form(value) if isinstance(value, dict | list) else value for value in values])
        digest = blake2b(written.encode(), digest_size=BITS // 8).digest()
        self.rows += 1
        self.checksum = (self.checksum + int.from_bytes(digest)) % 2**BITS


def _in_one_form(value: Any) -> str:
    """Return JSON in the one form that it has on every database: PostgreSQL sorts keys, and writes 1e3 as 1000."""
    return json.dumps(_with_whole_numbers(value), sort_keys=True)


def _with_whole_numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_whole_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_whole_numbers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
