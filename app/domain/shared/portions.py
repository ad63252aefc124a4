"""Sequences in parts that are small enough for one SQL statement. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")
STATEMENT_VALUES = 500


def portions(items: Sequence[T], size: int = STATEMENT_VALUES) -> Iterator[Sequence[T]]:
    """Return the consecutive parts of a sequence, of at most `size` items each."""
    return (items[start : start + size] for start in range(0, len(items), size))
