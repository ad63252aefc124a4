"""Attribute clicks, baskets and orders to searches, by the journey that the shopper's own browser keeps, and encode
that journey for a cookie. Pure.

The rules (contracts: Analytics counting): a search counts once per visit, which ends after 30 minutes without a search;
the first product opened from what a search showed is its click; a product opened from it that goes into a basket within
30 minutes counts as added, once per search; what of these is ordered within one day counts as ordered, once per search,
with what was paid for them. An order closes the searches that it is attributed to, with all they showed, so that
nothing counts twice: another product opened from the same page afterwards, or another order, counts nowhere. The words
of a visit are kept apart from its searches, so that a search that was dropped for want of room is not counted again. A
search from which nothing was opened, and soon after it one in other words that has a click, are one visit that
rephrased it.

Each product opened from a search, and each of those that is ordered, is an event besides, once per search. An opened
one counts for the place at which it was shown, by which learning takes out that people look most at what stands on top.

Where a comparison of rankings runs, what a search showed is interleaved from both: the first click of such a search is
an event of the comparison besides, for the side that placed the product. A visit keeps a seed, one of few, so that it
sees the same order again (search/ranking/interleaving.py).

In the cookie, numbers are LEB128 varints; the sorted ids that a page showed are delta encoded, so that six pages of 100
products fit, and the first of them in their order are places among the sorted ones, a byte each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from hashlib import blake2b
from itertools import accumulate, repeat

from app.domain.search.document_ids import PRODUCT, record_of
from app.domain.search.ranking.interleaving import Side
from app.domain.search.ranking.learning import examination
from app.domain.search.text import LINKING_WORDS, words
from app.domain.search_statistics.counting.events import Event, EventKind

VISIT = timedelta(minutes=30)
BASKET = timedelta(minutes=30)
ORDER = timedelta(days=1)
REPHRASED = timedelta(minutes=5)  # What is searched later may well be about something else.
SEEN_EVERY = timedelta(minutes=1)  # A reload within it leaves the journey as it is, and thus the cookie.
MOST_SEARCHES = 12
MOST_COUNTED = 128  # Words of a visit, of which three bytes of a hash each are kept.
HASH_BYTES = 3
MOST_SHOWN = 100  # The largest page of results.
MOST_PLACED = 24  # Places of a first page that are kept; what stands further down counts as at the last of them.
HUNDREDTHS = 100  # Weights are kept as whole numbers.
MOST_FOLLOWED = 20  # Products opened, or put in the basket, that are kept of one search.
LONGEST_JOURNEY = 2_100  # Bytes; signed and written in base 64 that stays below 3 kB.
VERSION = 3  # Version of the encoding, its first byte.
WITH_SIDES = 4  # The version with what comparisons add, written only where there is any of it.
SIDES = (None, Side.PRESENT, Side.CANDIDATE, None)  # By the two bits that the cookie has for each place.
BEFORE_PLACES = 2  # The version before places were encoded; browsers keep such journeys for a day.
UNPLACED = 16  # The flag of a search whose `leading` is None.
MOST_BITS = 63
MOST_WORDS = 5  # Of a search; longer ones are no expression that could become a synonym.
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Search:
    """A search that was counted at `at` for `day`. Product ids: `shown` on its latest page, sorted, and the first of
    them in the order in which they stood (`leading`, empty for a further page, None where that is not known); `opened`
    from there; put in a `basket` in time. `clicked` and `added` are counted already. One that was `answered` showed a
    page in place of products. `sides` are those that placed the `leading` products, for the comparison `comparison_id`,
    0 for none. Nothing more is counted once `followed` is false, which it also is for one that was answered, and where
    clicks are not recorded."""

    word: str
    at: datetime
    day: date
    followed: bool = False
    clicked: bool = False
    added: bool = False
    answered: bool = False
    shown: tuple[int, ...] = ()
    opened: tuple[int, ...] = ()
    basket: tuple[int, ...] = ()
    leading: tuple[int, ...] | None = ()
    comparison_id: int = 0
    sides: tuple[Side | None, ...] = ()

    def side_of(self, product_id: int) -> Side | None:
        """The side that placed a product of the latest page, None for neither."""
        return dict(zip(self.leading or (), self.sides, strict=False)).get(product_id)

    def place_of(self, product_id: int) -> int | None:
        """The 1-based place of a product of the latest page, None where it is not known."""
        if self.leading is None:
            return None
        if product_id in self.leading:
            return self.leading.index(product_id) + 1
        return MOST_PLACED if product_id in self.shown else None


@dataclass(frozen=True, slots=True)
class Journey:
    """The searches of one browser in one shop, oldest first. The visit began at `begun`; `seen` is its last search,
    `counted` are the hashes of the words that were counted in it. `seed` is that of its interleaved searches, None
    where no comparison of rankings ran."""

    searches: tuple[Search, ...] = ()
    counted: tuple[bytes, ...] = ()
    begun: datetime | None = None
    seen: datetime | None = None
    seed: int | None = None

    def seed_at(self, now: datetime) -> int | None:
        """The seed of a search made now, None where its visit has none yet."""
        return _note_visit(self, now).seed

    def latest(self, word: str) -> Search | None:
        return next((search for search in reversed(self.searches) if search.word == word), None)


@dataclass(frozen=True, slots=True)
class Compared:
    """How a page of results takes part in a comparison of rankings: the `seed` of its visit, None while none runs, and
    on an interleaved page the comparison and the sides of its first products, in their order."""

    seed: int | None = None
    comparison_id: int = 0
    sides: tuple[Side | None, ...] = ()


NOT_COMPARED = Compared()


@dataclass(frozen=True, slots=True)
class ResultsPage:
    """A page of results for a countable `word`. `is_first`: without page number, filter or order; `is_top`: without
    page number. `found` is None where a page answers the search instead of products."""

    word: str
    shown: tuple[int, ...]
    found: int | None
    is_first: bool = True
    ruled: bool = False
    is_top: bool = True
    compared: Compared = NOT_COMPARED

    @property
    def leading(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(self.shown[:MOST_PLACED])) if self.is_top else ()


@dataclass(frozen=True, slots=True)
class EventContext:
    """Time and site of an event; `day` is the site's. `clicks`: whether they are recorded."""

    site_id: int
    at: datetime
    day: date
    clicks: bool = True


Attributed = tuple[Journey, list[Event]]


def searched(journey: Journey, context: EventContext, page: ResultsPage) -> Attributed:
    """Return the journey after a page of results was shown, and the event of its search where that counts. A search
    that a page answers is not followed: no product of it can be opened, and so it lowers no share."""
    visited = _note_visit(journey, context.at)
    if page.compared.seed is not None:
        visited = replace(visited, seed=page.compared.seed)
    known = visited.latest(page.word)
    shown = tuple(sorted(set(page.shown[:MOST_SHOWN]))) if context.clicks else ()
    leading = page.leading if context.clicks else ()
    sides = page.compared.sides
    sides = (*sides, *repeat(None, len(leading)))[: len(leading)] if any(sides) else ()
    if _hash(page.word) in visited.counted:
        if known is None or not known.followed:
            return visited, []
        comparison_id = page.compared.comparison_id or known.comparison_id
        again = replace(known, shown=shown, leading=leading, comparison_id=comparison_id, sides=sides)
        return _with_search(visited, known, again), []
    if not page.is_first:
        return journey, []
    followed = context.clicks and page.found is not None
    search = Search(
        page.word,
        _seconds(context.at),
        context.day,
        followed=followed,
        answered=page.found is None,
        shown=shown,
        leading=leading,
        comparison_id=page.compared.comparison_id if context.clicks else 0,
        sides=sides,
    )
    others = tuple(other for other in visited.searches if other is not known or other.opened)
    event = Event(EventKind.SEARCHED, context.site_id, page.word, context.day, page.found, followed, page.ruled)
    counted = (*visited.counted, _hash(page.word))[-MOST_COUNTED:]
    return replace(visited, searches=(*others, search)[-MOST_SEARCHES:], counted=counted), [event]


def opened(journey: Journey, context: EventContext, product_id: int, word: str | None = None) -> Attributed:
    """Return the journey after a product was opened, attributed to the latest search that showed it. `word` is that of
    the page from which it was opened, where the browser says so."""
    if not context.clicks:
        return journey, []
    search = _last(journey, "shown", product_id, word)
    if search is None or context.at - search.at > ORDER or product_id in search.opened:
        return journey, []
    after = replace(search, clicked=True, opened=(*search.opened, product_id)[-MOST_FOLLOWED:])
    clicked = [_event(EventKind.CLICKED, context, search), *_rephrasing_event(journey, context, search)]
    if search.comparison_id:
        compared = _event(EventKind.COMPARED, context, search)
        clicked.append(replace(compared, comparison_id=search.comparison_id, side=search.side_of(product_id)))
    if len(search.opened) >= MOST_FOLLOWED:  # Whether this one was opened before is not known any more.
        return _with_search(journey, search, after), []
    weight = weight_at(search.place_of(product_id))
    event = replace(_event(EventKind.OPENED, context, search), product_id=product_id, weight=weight)
    return _with_search(journey, search, after), [event] if search.clicked else [*clicked, event]


def added(journey: Journey, context: EventContext, product_id: int) -> Attributed:
    """Return the journey after a product went into the basket, attributed to the latest search it was opened from."""
    if not context.clicks:
        return journey, []
    search = _last(journey, "opened", product_id)
    if search is None or context.at - search.at > BASKET or product_id in search.basket:
        return journey, []
    after = replace(search, added=True, basket=(*search.basket, product_id)[-MOST_FOLLOWED:])
    return _with_search(journey, search, after), [] if search.added else [_event(EventKind.ADDED, context, search)]


def ordered(journey: Journey, context: EventContext, lines: Iterable[tuple[int, int]]) -> Attributed:
    """Return the journey after an order of (product id, amount in minor units). Each line is attributed to the latest
    search that led to it; such a search is closed."""
    if not context.clicks:
        return journey, []
    revenue: dict[Search, int] = {}
    bought: dict[tuple[Search, int], None] = {}
    for product_id, amount in lines:
        search = _last(journey, "basket", product_id)
        if search is not None and context.at - search.at <= ORDER:
            revenue[search] = revenue.get(search, 0) + amount
            bought[search, product_id] = None
    for search in revenue:
        done = replace(search, followed=False, shown=(), opened=(), basket=(), leading=())
        journey = _with_search(journey, search, done)
    return journey, [
        *(replace(_event(EventKind.ORDERED, context, search), revenue=sum_) for search, sum_ in revenue.items()),
        *(replace(_event(EventKind.BOUGHT, context, search), product_id=product_id) for search, product_id in bought),
    ]


def weight_at(place: int | None) -> int:
    """Return by how much an open counts at a 1-based place, in hundredths."""
    return round(HUNDREDTHS / examination(place))


def current(journey: Journey, now: datetime) -> Journey:
    """Drop searches that are too old for attribution, or that a turned-back clock put into the future."""
    kept = tuple(search for search in journey.searches if -VISIT <= now - search.at <= ORDER)
    return journey if kept == journey.searches else replace(journey, searches=kept)


def _note_visit(journey: Journey, now: datetime) -> Journey:
    """Return the journey with a search made now: in the same visit, or the first of a new one."""
    now = _seconds(now)
    if journey.begun is None or journey.seen is None or not -VISIT <= now - journey.seen < VISIT:
        return replace(journey, begun=now, seen=now, counted=(), seed=None)
    return replace(journey, seen=now) if now - journey.seen >= SEEN_EVERY else journey


def _last(journey: Journey, products: str, product_id: int, word: str | None = None) -> Search | None:
    """Return the latest followed search whose `products` (a field) have the product."""
    for search in reversed(journey.searches):
        if search.followed and product_id in getattr(search, products) and word in (None, search.word):
            return search
    return None


def _rephrasing_event(journey: Journey, context: EventContext, search: Search) -> list[Event]:
    """Return the event that a search rephrased the one right before it, which led to nothing, not even to a page; an
    empty list where it did not."""
    place = journey.searches.index(search)
    before = journey.searches[place - 1] if place else None
    if before is None or before.clicked or before.answered or not before.followed:
        return []
    is_soon = timedelta(0) <= search.at - before.at <= REPHRASED
    if not is_soon or not is_in_other_words(before.word, search.word):
        return []
    return [replace(_event(EventKind.REPHRASED, context, search), word=before.word, next_word=search.word)]


def _with_search(journey: Journey, before: Search, after: Search) -> Journey:
    if before == after:
        return journey
    return replace(journey, searches=tuple(after if search is before else search for search in journey.searches))


def _event(kind: EventKind, context: EventContext, search: Search) -> Event:
    return Event(kind, context.site_id, search.word, search.day)


def _hash(word: str) -> bytes:
    return blake2b(word.encode(), digest_size=HASH_BYTES).digest()


def _seconds(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(microsecond=0)


def ids_of(hit_ids: Sequence[str]) -> tuple[int, ...]:
    """Return the product ids among the ids of indexed documents (`p123`)."""
    return tuple(record[1] for hit_id in hit_ids if (record := record_of(hit_id)) and record[0] == PRODUCT)


def to_text(journey: Journey) -> bytes:
    """Encode a journey in at most LONGEST_JOURNEY bytes. Drops what older searches showed, then the oldest searches
    themselves."""
    searches = list(journey.searches)
    is_compared = journey.seed is not None or any(search.comparison_id for search in searches)
    head = _head(journey, is_compared)
    rows = [_row(search, is_compared) for search in searches]
    room = LONGEST_JOURNEY - len(head)
    for place in range(len(rows) - 1):
        if sum(map(len, rows)) <= room:
            break
        rows[place] = _row(replace(searches[place], shown=(), leading=(), sides=()), is_compared)
    while rows and sum(map(len, rows)) > room:
        rows.pop(0)
    return b"".join((head, *rows))


def from_text(text: bytes) -> Journey:
    """Decode a journey; return an empty one for invalid bytes."""
    try:
        return _journey(_JourneyReader(text))
    except (ValueError, OverflowError, OSError):
        return Journey()


class _JourneyReader:
    """Reads an encoded journey from its beginning. Raises ValueError where the bytes end too early or are invalid."""

    def __init__(self, data: bytes) -> None:
        self._data, self._place = data, 0

    def is_done(self) -> bool:
        return self._place >= len(self._data)

    def take(self, size: int) -> bytes:
        part = self._data[self._place : self._place + size]
        if len(part) < size:
            raise ValueError("the text is cut off")
        self._place += size
        return part

    def number(self) -> int:
        value = 0
        for shift in range(0, MOST_BITS, 7):
            (byte,) = self.take(1)
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise ValueError("the number is too large")

    def numbers(self) -> tuple[int, ...]:
        many = self.number()
        if many > MOST_SHOWN:
            raise ValueError("there are too many numbers")
        return tuple(self.number() for _ in range(many))


def _journey(reader: _JourneyReader) -> Journey:
    version = reader.number()
    if version not in (BEFORE_PLACES, VERSION, WITH_SIDES):
        raise ValueError("another version")
    begun, seen, many = _moment(reader.number()), _moment(reader.number()), reader.number()
    counted = tuple(reader.take(HASH_BYTES) for _ in range(min(many, MOST_COUNTED)))
    seed = reader.number() if version == WITH_SIDES else 0  # 0 stands for None.
    searches = tuple(_searches(reader, version))
    return Journey(searches[-MOST_SEARCHES:], counted, begun, seen, seed - 1 if seed else None)


def _searches(reader: _JourneyReader, version: int) -> Iterator[Search]:
    has_places = version != BEFORE_PLACES
    while not reader.is_done():
        word = reader.take(reader.number()).decode()
        at, day, flags = reader.number(), reader.number(), reader.number()
        shown, opened, basket = tuple(accumulate(reader.numbers())), reader.numbers(), reader.numbers()
        places = reader.numbers() if has_places else ()
        is_placed = has_places and not flags & UNPLACED
        comparison_id, sides = (reader.number(), reader.number()) if version == WITH_SIDES else (0, 0)
        if any(place >= len(shown) for place in places):
            raise ValueError("a place names nothing")
        yield Search(
            word=word,
            at=datetime.fromtimestamp(at, UTC),
            day=date.fromordinal(day),
            followed=bool(flags & 1),
            clicked=bool(flags & 2),
            added=bool(flags & 4),
            answered=bool(flags & 8),
            shown=shown,
            opened=opened,
            basket=basket,
            leading=tuple(shown[place] for place in places) if is_placed else None,
            comparison_id=comparison_id,
            sides=tuple(SIDES[sides >> 2 * place & 3] for place in range(len(places))) if sides else (),
        )


def _head(journey: Journey, is_compared: bool) -> bytes:
    # 0, which is no time of a visit, stands for None.
    times = (0 if moment is None else int(moment.timestamp()) for moment in (journey.begun, journey.seen))
    version = WITH_SIDES if is_compared else VERSION
    head = [_varint(version), *map(_varint, times), _varint(len(journey.counted)), *journey.counted]
    if is_compared:
        head.append(_varint(0 if journey.seed is None else journey.seed + 1))
    return b"".join(head)


def _row(search: Search, is_compared: bool) -> bytes:
    word = search.word.encode()
    flags = search.followed + 2 * search.clicked + 4 * search.added + 8 * search.answered
    flags += UNPLACED * (search.leading is None)
    when = [int(search.at.timestamp()), search.day.toordinal(), flags]
    steps = [later - earlier for earlier, later in zip((0, *search.shown), search.shown, strict=False)]
    among = {product_id: place for place, product_id in enumerate(search.shown)}
    lists = (steps, search.opened, search.basket, [among[product_id] for product_id in search.leading or ()])
    sides = sum(SIDES.index(side) << 2 * place for place, side in enumerate(search.sides))
    compared = [_varint(search.comparison_id), _varint(sides)] if is_compared else []
    return b"".join((_varint(len(word)), word, *map(_varint, when), *map(_list, lists), *compared))


def _list(numbers: Sequence[int]) -> bytes:
    return _varint(len(numbers)) + b"".join(map(_varint, numbers))


def _varint(number: int) -> bytes:
    parts = bytearray()
    while number >= 0x80:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    parts.append(number)
    return bytes(parts)


def _moment(number: int) -> datetime | None:
    return None if number == 0 else datetime.fromtimestamp(number, UTC)


def is_in_other_words(before: str, after: str) -> bool:
    """Whether two searches, read as search reads them, may be two names of one thing. They are not where one has all
    the words of the other, which makes it narrower or wider ("laptop", "laptop bag"), and where they differ by numbers
    alone, which name different things ("iphone 12", "iphone 13")."""
    first, second = (frozenset(words(searched)) - LINKING_WORDS for searched in (before, after))
    if first <= second or second <= first or max(len(first), len(second)) > MOST_WORDS:
        return False
    return _without_numbers(first - second) != _without_numbers(second - first)


def _without_numbers(some: frozenset[str]) -> list[str]:
    return sorted(_DIGITS.sub("", word) for word in some)
