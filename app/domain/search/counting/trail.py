"""What a shopper's own browser remembers of their searches, so that what follows is counted to them. Pure.

The rules (contracts: Analytics counting): a search counts once per visit, which ends after 30 minutes without a
search; the first product opened from what a search showed is its click; a product opened from it that goes into a
basket within 30 minutes counts as added, once per search; what of these is ordered within one day counts as ordered,
once per search, with what was paid for them. After an order the searches that it counts to are forgotten, with all
they showed, so that nothing counts twice: who opens another product from the same page afterwards, or orders again,
counts nowhere. Which words the visit searched for is remembered apart from that, so that a search which had to be
forgotten for want of room is not counted again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from hashlib import blake2b

from app.domain.search.counting.events import Event, Kind

VISIT = timedelta(minutes=30)
BASKET = timedelta(minutes=30)
ORDER = timedelta(days=1)
SEEN_EVERY = timedelta(minutes=1)  # A reload within it leaves the trail as it is, and thus the cookie.
MOST_SEARCHES = 12
MOST_COUNTED = 128  # Words of a visit that are known again, if only by three bytes each.
HASH_BYTES = 3
MOST_SHOWN = 100  # The largest page of results.
MOST_FOLLOWED = 20  # Products that one search is followed to.


@dataclass(frozen=True, slots=True)
class Search:
    """A search that was counted at `at` to `day`. Product ids: `shown` on its latest page, in the order of numbers,
    `opened` from there, put in a `basket` in time. `clicked` and `added` say that this was counted already; so is
    everything once `followed` is false, which it also is where clicks are not recorded."""

    word: str
    at: datetime
    day: date
    followed: bool = False
    clicked: bool = False
    added: bool = False
    shown: tuple[int, ...] = ()
    opened: tuple[int, ...] = ()
    basket: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Trail:
    """The searches of one browser in one shop, oldest first. The visit began at `begun`; `seen` is its last search,
    `counted` are the hashes of the words that were counted in it."""

    searches: tuple[Search, ...] = ()
    counted: tuple[bytes, ...] = ()
    begun: datetime | None = None
    seen: datetime | None = None

    def latest(self, word: str) -> Search | None:
        return next((search for search in reversed(self.searches) if search.word == word), None)


@dataclass(frozen=True, slots=True)
class ResultsPage:
    """A page of results that is about to be shown for a countable `word`. `is_first` is the plain first one: no page
    number, filter or order. `found` is None where a rule leads elsewhere and nothing is shown."""

    word: str
    shown: tuple[int, ...]
    found: int | None
    is_first: bool = True
    ruled: bool = False


@dataclass(frozen=True, slots=True)
class Moment:
    """When and where something happens: `day` is that of the site; `clicks` says whether they are recorded."""

    site_id: int
    at: datetime
    day: date
    clicks: bool = True


Noted = tuple[Trail, list[Event]]


def searched(trail: Trail, moment: Moment, page: ResultsPage) -> Noted:
    """The trail after a page of results, and the search if it counts."""
    visited = _visited(trail, moment.at)
    known = visited.latest(page.word)
    shown = tuple(sorted(set(page.shown[:MOST_SHOWN]))) if moment.clicks else ()
    if _hash(page.word) in visited.counted:
        again = replace(known, shown=shown) if known is not None and known.followed else known
        return visited if known is None or again is None else _with(visited, known, again), []
    if not page.is_first:
        return trail, []
    search = Search(page.word, _seconds(moment.at), moment.day, followed=moment.clicks, shown=shown)
    others = tuple(other for other in visited.searches if other is not known or other.opened)
    event = Event(
        Kind.SEARCHED, moment.site_id, page.word, moment.day, search.at, page.found, moment.clicks, page.ruled
    )
    counted = (*visited.counted, _hash(page.word))[-MOST_COUNTED:]
    return replace(visited, searches=(*others, search)[-MOST_SEARCHES:], counted=counted), [event]


def opened(trail: Trail, moment: Moment, product_id: int, word: str | None = None) -> Noted:
    """The trail after a product was opened; `word` is that of the page it was opened from, where the browser says so.
    The latest search that showed the product has it."""
    if not moment.clicks:
        return trail, []
    search = _last(trail, lambda search: product_id in search.shown and word in (None, search.word))
    if search is None or moment.at - search.at > ORDER or product_id in search.opened:
        return trail, []
    after = replace(search, clicked=True, opened=(*search.opened, product_id)[-MOST_FOLLOWED:])
    return _with(trail, search, after), [] if search.clicked else [_event(Kind.CLICKED, moment, search)]


def added(trail: Trail, moment: Moment, product_id: int) -> Noted:
    """The trail after a product went into the basket. The latest search from which it was opened has it."""
    if not moment.clicks:
        return trail, []
    search = _last(trail, lambda search: product_id in search.opened)
    if search is None or moment.at - search.at > BASKET or product_id in search.basket:
        return trail, []
    after = replace(search, added=True, basket=(*search.basket, product_id)[-MOST_FOLLOWED:])
    return _with(trail, search, after), [] if search.added else [_event(Kind.ADDED, moment, search)]


def ordered(trail: Trail, moment: Moment, lines: Iterable[tuple[int, int]]) -> Noted:
    """The trail after an order of (product id, amount in minor units). Each line counts to the latest search that
    led to it; a search that was ordered from is done with."""
    if not moment.clicks:
        return trail, []
    revenue: dict[Search, int] = {}
    for product_id, amount in lines:
        search = _with_in_basket(trail, product_id)
        if search is not None and moment.at - search.at <= ORDER:
            revenue[search] = revenue.get(search, 0) + amount
    for search in revenue:
        done = replace(search, followed=False, shown=(), opened=(), basket=())
        trail = _with(trail, search, done)
    return trail, [replace(_event(Kind.ORDERED, moment, search), revenue=sum_) for search, sum_ in revenue.items()]


def current(trail: Trail, now: datetime) -> Trail:
    """Without searches that nothing can be counted to any more, or that a turned-back clock put into the future."""
    kept = tuple(search for search in trail.searches if -VISIT <= now - search.at <= ORDER)
    return trail if kept == trail.searches else replace(trail, searches=kept)


def _visited(trail: Trail, now: datetime) -> Trail:
    """The trail with a search made now: in the same visit, or the first of another."""
    now = _seconds(now)
    if trail.begun is None or trail.seen is None or not -VISIT <= now - trail.seen < VISIT:
        return replace(trail, begun=now, seen=now, counted=())
    return replace(trail, seen=now) if now - trail.seen >= SEEN_EVERY else trail


def _with_in_basket(trail: Trail, product_id: int) -> Search | None:
    return _last(trail, lambda search: product_id in search.basket)


def _last(trail: Trail, wanted: Callable[[Search], bool]) -> Search | None:
    return next((search for search in reversed(trail.searches) if search.followed and wanted(search)), None)


def _with(trail: Trail, before: Search, after: Search) -> Trail:
    if before == after:
        return trail
    return replace(trail, searches=tuple(after if search is before else search for search in trail.searches))


def _event(kind: Kind, moment: Moment, search: Search) -> Event:
    return Event(kind, moment.site_id, search.word, search.day, _seconds(moment.at))


def _hash(word: str) -> bytes:
    return blake2b(word.encode(), digest_size=HASH_BYTES).digest()


def _seconds(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(microsecond=0)


def ids_of(hit_ids: Sequence[str]) -> tuple[int, ...]:
    """Product ids among the ids of indexed documents (`p123`)."""
    return tuple(int(hit_id[1:]) for hit_id in hit_ids if hit_id.startswith("p") and hit_id[1:].isdecimal())
