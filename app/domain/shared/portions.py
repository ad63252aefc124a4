"""Parts of a sequence that a statement can take. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")
STATEMENT_VALUES = 500


def portions(items: Sequence[T], size: int = STATEMENT_VALUES) -> Iterator[Sequence[T]]:
    """Consecutive parts of at most `size` items."""
    return (items[start : start + size] for start in range(0, len(items), size))
