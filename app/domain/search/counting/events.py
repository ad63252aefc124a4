"""What is counted, one thing at a time. Nothing in it says who did it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Any, Protocol


class Kind(StrEnum):
    SEARCHED = "searched"
    CLICKED = "clicked"
    ADDED = "added"
    ORDERED = "ordered"


@dataclass(frozen=True, slots=True)
class Event:
    """Something that a search of `word` led to. `day` is the day of the search in the site's time zone, to which all
    that follows from it is counted; `at` is when this happened, in whole seconds. Of a search: how many products it
    found (None where a rule led elsewhere), whether clicks are recorded from it on, whether a rule applied. Of an
    order: the revenue in minor units."""

    kind: Kind
    site_id: int
    word: str
    day: date
    at: datetime
    found: int | None = None
    followed: bool = False
    ruled: bool = False
    revenue: int = 0


class Counting(Protocol):
    """Takes what is to be counted. Never raises and never waits: what cannot be noted is lost and logged."""

    def note(self, events: Sequence[Event]) -> None: ...


def as_json(event: Event) -> list[Any]:
    """For `from_json`, which reads it again."""
    flags = [int(event.followed), int(event.ruled)]
    when = [event.day.isoformat(), int(event.at.timestamp())]
    return [event.kind.value, event.site_id, event.word, *when, event.found, *flags, event.revenue]


def from_json(value: Any) -> Event | None:
    """None for what no event was written as, such as the beginning of a line that a full disk cut off."""
    try:
        kind, site_id, word, day, at, found, followed, ruled, revenue = value
        event = Event(
            Kind(kind),
            int(site_id),
            str(word),
            date.fromisoformat(day),
            datetime.fromtimestamp(int(at), UTC),
            None if found is None else int(found),
            bool(followed),
            bool(ruled),
            int(revenue),
        )
    except (TypeError, ValueError, OverflowError, OSError):
        return None
    return event
