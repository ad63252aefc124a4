"""Pages and batches of a list. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Generic, TypeVar

T = TypeVar("T")
STATEMENT_VALUES = 500


@dataclass(frozen=True, slots=True)
class Paged(Generic[T]):
    """One page of a list. `page_number` counts from 1; past the last page `items` is empty. `has_more`: the list has
    more items than `total_items`, beyond which nothing was counted."""

    items: Sequence[T]
    page_number: int
    page_size: int
    total_items: int
    has_more: bool = False

    @classmethod
    def cut(cls, rows: Sequence[T], page_number: int, page_size: int) -> Paged[T]:
        """Return one page of a complete list of rows."""
        start = (page_number - 1) * page_size
        return cls(rows[start : start + page_size], page_number, page_size, len(rows))

    @property
    def total_pages(self) -> int:
        return -(-self.total_items // self.page_size)

    @property
    def first_item(self) -> int:
        """The place of the first shown item in the whole list, from 1; 0 when none is shown."""
        return (self.page_number - 1) * self.page_size + 1 if self.items else 0

    @property
    def last_item(self) -> int:
        return self.first_item + len(self.items) - 1 if self.items else 0


def batched(items: Iterable[T], size: int = STATEMENT_VALUES) -> Iterator[list[T]]:
    """Yield the items in batches of at most `size`. Python has this as itertools.batched from 3.12 on."""
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch
