"""The port to a spool, in which events wait until they are counted. Those of searches are one kind of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

E = TypeVar("E")


@dataclass(frozen=True, slots=True)
class EventBatch(Generic[E]):
    """Events with an id by which a second delivery is recognised."""

    id: str
    events: tuple[E, ...]


class Spool(Protocol[E]):
    """Keeps events across restarts, in batches that do not change until they are done."""

    def note(self, events: Sequence[E]) -> None:
        """Record events. Never raises and never blocks: what cannot be recorded is lost and logged."""
        ...

    def has_pending(self) -> bool:
        """Whether any event is pending."""
        ...

    def batches(self) -> AbstractContextManager[Iterator[EventBatch[E]]]:
        """Return a context that yields the pending batches, oldest first; none while another process has them."""
        ...

    def done(self, batch_id: str) -> None:
        """Acknowledge a batch that is committed. Those before it of the same file are committed too."""
        ...

    def failed(self, batch_id: str) -> None:
        """Return a batch that could not be counted. It is delivered again until it has failed too often."""
        ...


class NullSpool(Generic[E]):
    """Spool of programs that serve no shoppers: records nothing."""

    def note(self, events: Sequence[E]) -> None:
        """Ignore the events: those of such a program are no shopper's."""

    def has_pending(self) -> bool:
        return False

    def batches(self) -> AbstractContextManager[Iterator[EventBatch[E]]]:
        return nullcontext(iter(()))

    def done(self, batch_id: str) -> None:
        """Do nothing: there are no batches."""

    def failed(self, batch_id: str) -> None:
        """Do nothing: there are no batches."""
