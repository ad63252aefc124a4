"""Events of searches, and of what follows from them, to be counted. No event identifies a shopper or says when in the
day it was."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Any, Generic, TypeVar

from app.domain.search.ranking.interleaving import Side

# While a release replaces another, each may read what the other wrote. So a line keeps its first COLUMNS as they are, a
# new value stands behind all others, where older readers pass it over, and what they must not count is of a new kind,
# which they leave to newer ones (`is_of_unknown_version`).
COLUMNS = 9
# The defaults of next word, product, visits and weights, and of the comparison that only COMPARED has, which lines lack
# from the right as far as they have none.
MISSING: list[Any] = ["", None, 0, 1, 0, 0, 0]
# Earlier releases wrote these kinds for single visits, which are not stored any more.
RETIRED_KINDS = ("rephrased", "opened", "bought")
E = TypeVar("E")


class EventKind(StrEnum):
    """OPENED and BOUGHT are of one product, REPHRASED is of two searches, COMPARED of a comparison of rankings, the
    others are of one search."""

    SEARCHED = "searched"
    CLICKED = "clicked"
    ADDED = "added"
    ORDERED = "ordered"
    REPHRASED = "rephrased in a week"
    OPENED = "opened in a week"
    BOUGHT = "bought in a week"
    COMPARED = "compared"

    @property
    def is_of_product(self) -> bool:
        return self in (EventKind.OPENED, EventKind.BOUGHT)

    @property
    def is_shared(self) -> bool:
        """Whether events of this kind are stored only where enough visits share them (gathering.py)."""
        return self.is_of_product or self is EventKind.REPHRASED

    @property
    def is_of_word(self) -> bool:
        """Whether events of this kind change the daily counts of a word."""
        return not self.is_shared and self is not EventKind.COMPARED


@dataclass(frozen=True, slots=True)
class Event:
    """A search of `word`, or what followed from one. `day` is the search's day in the site's time zone, to which all
    that follows is attributed. A search has the number of products `found` (None where a page answered it instead),
    whether it is `followed` (clicks are recorded, and no page answered it), whether a rule applied (`ruled`), and
    whether its network had not searched for the word on the day (`of_new_network`). An order has its `revenue` in minor
    units. A rephrased search led to nothing; `next_word` was searched then, and led to a product. What is of one
    product has its id. An opened product has a `weight`, in hundredths: by how much the open counts for the place at
    which the search showed it. `visits` is how many visits the event stands for, and `weight` is the sum of theirs;
    `all_visits` and `all_weight` are those of the week so far, so that nothing is lost for good with an event before.
    The first click on what an interleaved search showed is of the comparison `comparison_id`, and of the `side` that
    placed the product, None for neither. What is stored of it has no side: it stands for the `visits` of a group, and
    `weight` is the number of their wins."""

    kind: EventKind
    site_id: int
    word: str
    day: date
    found: int | None = None
    followed: bool = False
    ruled: bool = False
    revenue: int = 0
    next_word: str = ""
    product_id: int | None = None
    weight: int = 0
    visits: int = 1
    all_visits: int = 0
    all_weight: int = 0
    of_new_network: bool = False
    comparison_id: int = 0
    side: Side | None = None


def as_json(event: Event) -> list[Any]:
    """Return the form that `from_json` reads. A search has no revenue, so in its place stands whether the search's
    network is new: the first readers took no more than COLUMNS. In the place of a time that they read stands 0."""
    flags = [int(event.followed), int(event.ruled)]
    last = int(event.of_new_network) if event.kind is EventKind.SEARCHED else event.revenue
    head = [event.kind.value, event.site_id, event.word, event.day.isoformat(), 0, event.found, *flags, last]
    if event.kind.is_of_word:
        return head
    visits = [event.weight, event.visits, event.all_visits, event.all_weight]
    shared = [*head, event.next_word, event.product_id, *visits]
    return shared if event.kind.is_shared else [*shared, event.comparison_id]


def is_of_unknown_version(value: Any) -> bool:
    """Whether a line is of a kind that a later release made."""
    if not isinstance(value, list) or len(value) < COLUMNS or not isinstance(value[0], str):
        return False
    return value[0] not in (*EventKind, *RETIRED_KINDS)


def from_json(value: Any) -> Event | None:
    """Return the event of a line; None for anything else, such as the beginning of a line that a full disk cut off."""
    try:
        kind, site_id, word, day, _time, found, followed, ruled, last, *more = value
        next_word, product_id, *numbers, comparison_id = (more + MISSING[len(more) :])[: len(MISSING)]
        weight, visits, all_visits, all_weight = map(int, numbers)
        is_search, is_compared = kind == EventKind.SEARCHED, kind == EventKind.COMPARED
        event = Event(
            EventKind(kind),
            int(site_id),
            str(word),
            date.fromisoformat(day),
            None if found is None else int(found),
            bool(followed),
            bool(ruled),
            0 if is_search else int(last),
            str(next_word),
            None if product_id is None else int(product_id),
            weight,
            visits,
            all_visits,
            all_weight,
            is_search and bool(last),
            int(comparison_id) if is_compared else 0,
        )
    except (TypeError, ValueError, OverflowError):
        return None
    return event


@dataclass(frozen=True, slots=True)
class EventBatch(Generic[E]):
    """Events with an id by which a second delivery is recognised."""

    id: str
    events: tuple[E, ...]
