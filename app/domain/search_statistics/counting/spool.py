"""The port to the spool in which events wait to be counted, so that neither a search nor a page waits for that, and
what both spools have in common: the file of a machine, and the streams that machines share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from app.domain.search_statistics.counting.events import Event, EventBatch, as_json, from_json, is_of_unknown_version

LARGEST = 64 * 1024**2  # Pending bytes, some 400,000 events. A spool that nothing drains must not fill the disk.
LARGEST_OF_LATER = 4 * 1024**2  # Bytes of lines that wait for a release that understands them.
LONGEST_FOR_LATER = 30 * 24 * 3600  # Seconds for which they wait.
MOST_TRIES = 5  # Of a batch that cannot be counted.
LONGEST_BAD = 7 * 24 * 3600  # Seconds for which events that cannot be counted are kept for inspection.

E = TypeVar("E")
ReportError = Callable[[OSError], bool]


def report_nothing(_error: OSError) -> bool:
    return False


def _is_never_of_unknown_version(_value: Any) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class EventFormat(Generic[E]):
    """How events of one kind are written. `write` makes JSON of an event, `read` an event of that, or None, and
    `is_of_unknown_version` returns whether only a later release understands such JSON. `largest` is how many bytes may
    wait."""

    name: str
    write: Callable[[E], Any]
    read: Callable[[Any], E | None]
    largest: int = LARGEST
    is_of_unknown_version: Callable[[Any], bool] = _is_never_of_unknown_version


SEARCHES: EventFormat[Event] = EventFormat(
    "searches", as_json, from_json, is_of_unknown_version=is_of_unknown_version
)  # And what follows from them.


class Spool(Protocol[E]):
    """Events of one kind, kept across restarts, in batches that do not change until they are done.

    Whoever counts a batch notes its id in the same transaction (`daily_counts.note_batch`), since a batch may come
    again: after a crash between the commit and `done`, and from another machine."""

    def note(self, events: Sequence[E]) -> None:
        """Record events. Never raises and never waits for another machine: what cannot be recorded is lost and
        logged."""
        ...

    def has_pending(self) -> bool:
        """Whether any event is pending, as far as this machine can know. Never raises."""
        ...

    def batches(self) -> AbstractContextManager[Iterator[EventBatch[E]]]:
        """Return a context that yields the pending batches, oldest first; none while another process has them. Raises
        OSError where the disk does not answer."""
        ...

    def done(self, batch_id: str) -> None:
        """Acknowledge a batch that is committed. Lines in it that only a later release understands are kept for one,
        within LARGEST_OF_LATER and LONGEST_FOR_LATER."""
        ...

    def failed(self, batch_id: str) -> None:
        """Return a batch that could not be counted. It is delivered again, until after MOST_TRIES it is set aside for
        inspection, for LONGEST_BAD at most."""
        ...


class SpoolMaker(Protocol):
    """Makes the spool of a kind of events, with a folder of this machine."""

    def __call__(self, format: EventFormat[E], folder: Path) -> Spool[E]: ...
