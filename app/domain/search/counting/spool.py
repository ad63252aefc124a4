"""Where what is to be counted waits until it is in the database."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Protocol

from app.domain.search.counting.events import Counting, Event


@dataclass(frozen=True, slots=True)
class Batch:
    """Events under a name by which they are known again should they come a second time."""

    id: str
    events: tuple[Event, ...]


class Spool(Counting, Protocol):
    """Keeps what was noted across restarts, in batches that stay as they are until they are done."""

    def waits(self) -> bool:
        """Whether anything was noted that is not done."""
        ...

    def batches(self) -> AbstractContextManager[Iterator[Batch]]:
        """What waits, oldest first; nothing while another process goes through it."""
        ...

    def done(self, batch_id: str) -> None:
        """The batch is in the database for good, as are those before it that are of the same file."""
        ...

    def failed(self, batch_id: str) -> None:
        """The batch itself could not be counted. It comes again, until it failed too often."""
        ...


class NoSpool:
    """For programs that serve no shoppers."""

    def note(self, events: Sequence[Event]) -> None:
        """Nothing that happens here is a shopper's doing."""

    def waits(self) -> bool:
        return False

    def batches(self) -> AbstractContextManager[Iterator[Batch]]:
        return nullcontext(iter(()))

    def done(self, batch_id: str) -> None:
        """There are no batches."""

    def failed(self, batch_id: str) -> None:
        """There are no batches."""
