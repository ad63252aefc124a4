"""Events of searches, and of what follows from them, to be counted. None identifies a shopper."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Any


class EventKind(StrEnum):
    """OPENED and BOUGHT are of one product, the others of a search."""

    SEARCHED = "searched"
    CLICKED = "clicked"
    ADDED = "added"
    ORDERED = "ordered"
    REPHRASED = "rephrased"
    OPENED = "opened"
    BOUGHT = "bought"

    @property
    def is_of_product(self) -> bool:
        return self in (EventKind.OPENED, EventKind.BOUGHT)


@dataclass(frozen=True, slots=True)
class Event:
    """A search of `word`, or what followed from one. `day` is the search's day in the site's time zone, to which all
    that follows is attributed; `at` is the time of this event in whole seconds. A search has the number of products
    `found` (None where a page answered it instead), whether clicks are recorded (`followed`) and whether a rule applied
    (`ruled`). An order has its `revenue` in minor units. A rephrased search led to nothing; `next_word` was searched
    then, and led to a product. What is of one product has its id; one that was opened has the 1-based `place` at which
    the search showed it, as far as that is known. `of_new_network`: its network had not searched for the word within a
    day, or had not opened the product from it in as many days as teach."""

    kind: EventKind
    site_id: int
    word: str
    day: date
    at: datetime
    found: int | None = None
    followed: bool = False
    ruled: bool = False
    revenue: int = 0
    next_word: str = ""
    product_id: int | None = None
    place: int | None = None
    of_new_network: bool = False


# While a release replaces another, each may read what the other wrote. So a line keeps its first COLUMNS as they are, a
# new value stands behind all others, where older readers pass it over, and what they must not count is of a new kind,
# which they leave to newer ones (`is_of_later`).
COLUMNS = 9
# The defaults of next word, product, place and network, which lines lack from the right as far as they have none.
MISSING: list[Any] = ["", None, None, False]


def as_json(event: Event) -> list[Any]:
    """Return the form that `from_json` reads. A search has no revenue, so in its place stands whether the search's
    network is new: the first readers took no more than COLUMNS."""
    flags = [int(event.followed), int(event.ruled)]
    when = [event.day.isoformat(), int(event.at.timestamp())]
    last = int(event.of_new_network) if event.kind is EventKind.SEARCHED else event.revenue
    return [event.kind.value, event.site_id, event.word, *when, event.found, *flags, last, *_more(event)]


def _more(event: Event) -> list[Any]:
    if event.kind.is_of_product:
        return ["", event.product_id, event.place, *[1] * event.of_new_network]
    return [event.next_word] * bool(event.next_word)


def is_of_later(value: Any) -> bool:
    """Whether a line is of a kind that a later release made."""
    if not isinstance(value, list) or len(value) < COLUMNS or not isinstance(value[0], str):
        return False
    return value[0] not in list(EventKind)


def from_json(value: Any) -> Event | None:
    """Return the event of a line; None for anything else, such as the beginning of a line that a full disk cut off."""
    try:
        kind, site_id, word, day, at, found, followed, ruled, last, *more = value
        next_word, product_id, place, of_new_network = (more + MISSING[len(more) :])[: len(MISSING)]
        is_search = kind == EventKind.SEARCHED
        event = Event(
            EventKind(kind),
            int(site_id),
            str(word),
            date.fromisoformat(day),
            datetime.fromtimestamp(int(at), UTC),
            None if found is None else int(found),
            bool(followed),
            bool(ruled),
            0 if is_search else int(last),
            str(next_word),
            None if product_id is None else int(product_id),
            None if place is None else int(place),
            bool(of_new_network) or (is_search and bool(last)),
        )
    except (TypeError, ValueError, OverflowError, OSError):
        return None
    return event
