"""Aggregate events into changes of the daily counts of words, and of the weekly counts of products and of rephrased
searches. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date

from app.domain.search_statistics.counting.events import Event, EventKind
from app.domain.search_statistics.counting.gathering import FEWEST_VISITS
from app.domain.search_statistics.verdicts import Wins
from app.domain.shared.memory import week_of

SUMMED = ("searches", "found_nothing", "followed", "clicked", "added_to_basket", "ordered", "revenue", "ruled")
MOST_WORDS = 5_000  # Different words kept per site and day; bots invent them without end.
REST = ""  # Stands for all words that came after the day was full.
FOLLOWING = ("clicked", "added_to_basket", "ordered")
DayWord = tuple[date, str]
ComparisonDay = tuple[int, date]
WeekPair = tuple[date, str, str]  # The Monday, the words, and those that were searched then.
PRODUCT_COUNTS = ("opens", "weight", "bought")
COUNTS_OF_WEEK = ("all_opens", "all_weight", "all_bought")
Key = tuple[date, str, int]
MOST_PAIRS = 2_000  # Different pairs kept per site and week; bots invent them without end.
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Sums:
    """Sums of counts, whose fields are those of `CountColumns` (search_statistics/models.py); `revenue` is in minor
    units."""

    searches: int = 0
    found_nothing: int = 0
    followed: int = 0
    clicked: int = 0
    added_to_basket: int = 0
    ordered: int = 0
    revenue: int = 0
    ruled: int = 0


@dataclass(frozen=True, slots=True)
class WordChange:
    """An increment of a word's counts on one day. `last_result_count` is how many products its latest search found,
    None where a page answered it instead; an increment without `searches` leaves it as stored. `networks` counts each
    network that searched for the word once."""

    day: date
    word: str
    last_result_count: int | None = None
    searches: int = 0
    found_nothing: int = 0
    followed: int = 0
    clicked: int = 0
    added_to_basket: int = 0
    ordered: int = 0
    revenue: int = 0
    ruled: int = 0
    networks: int = 0


@dataclass(frozen=True, slots=True)
class RephrasedVisits:
    """Visits that rephrased a search: `new` ones, and those `of_week` so far, as far as the shop remembers."""

    new: int
    of_week: int


@dataclass(frozen=True, slots=True)
class SiteChanges:
    """The changes of one site's counts by its events. `rephrased` counts the visits that searched one word and then the
    other, by week; `wins` those of comparisons, by comparison and day."""

    words: list[WordChange]
    rephrased: dict[WeekPair, RephrasedVisits]
    products: list[ProductChange]
    wins: dict[ComparisonDay, Wins]

    @classmethod
    def of(cls, events: Collection[Event]) -> SiteChanges:
        return cls(aggregate(events), rephrasings(events), aggregate_products(events), aggregate_wins(events))


def aggregate_wins(events: Iterable[Event]) -> dict[ComparisonDay, Wins]:
    """Return the wins of each side, by comparison and day, of groups that enough visits share."""
    wins: dict[ComparisonDay, Wins] = {}
    for event in events:
        of_group = Wins.of_number(event.weight)
        if event.kind is EventKind.COMPARED and of_group.total == event.visits >= FEWEST_VISITS:
            key = event.comparison_id, event.day
            wins[key] = wins.get(key, Wins()) + of_group
    return wins


def rephrasings(events: Iterable[Event]) -> dict[WeekPair, RephrasedVisits]:
    """Return the visits that rephrased a search, by week and words."""
    counts: dict[WeekPair, RephrasedVisits] = {}
    for event in events:
        if event.kind is EventKind.REPHRASED:
            pair = week_of(event.day), event.word, event.next_word
            before = counts.get(pair, RephrasedVisits(0, 0))
            counts[pair] = RephrasedVisits(before.new + event.visits, max(before.of_week, event.all_visits))
    return counts


def aggregate(events: Iterable[Event]) -> list[WordChange]:
    """Return one change for each word and day, in the order of their first events. Events that are counted otherwise
    are left out."""
    changes: dict[DayWord, WordChange] = {}
    for event in events:
        if not event.kind.is_of_word:
            continue
        key = (event.day, event.word)
        changes[key] = merged(changes[key], _change(event)) if key in changes else _change(event)
    return list(changes.values())


def within_bounds(
    changes: Iterable[WordChange], words: Mapping[date, int], stored: Collection[DayWord]
) -> tuple[list[WordChange], Counter[date]]:
    """Return the changes, with the words that exceed MOST_WORDS of a day replaced by REST, and the number of new words
    per day. `words` is how many each day has, `stored` which of the changes' words are among them."""
    kept: dict[DayWord, WordChange] = {}
    new: Counter[date] = Counter()
    for change in changes:
        if change.word != REST and (change.day, change.word) not in stored:
            if words.get(change.day, 0) + new[change.day] < MOST_WORDS:
                new[change.day] += 1
            else:
                change = replace(change, word=REST)
        key = (change.day, change.word)
        kept[key] = merged(kept[key], change) if key in kept else change
    return list(kept.values()), new


def capped(change: WordChange, before: WordChange | None) -> WordChange:
    """Return the change with clicks, baskets and orders capped at the word's followed searches of the day, of which
    `before` are stored: replaying an old cookie adds nothing. A search is recorded before its answer is sent and so
    before what follows from it; only the searches of another machine may arrive later."""
    followed = change.followed + (before.followed if before else 0)
    return replace(
        change,
        **{
            name: max(0, min(getattr(change, name), followed - (getattr(before, name) if before else 0)))
            for name in FOLLOWING
        },
    )


def merged(first: WordChange, second: WordChange) -> WordChange:
    """Return two changes of one word and day as one, with the result count of the later search, which is that of the
    second."""
    later = second if second.searches else first
    sums = {name: getattr(first, name) + getattr(second, name) for name in (*SUMMED, "networks")}
    return replace(later, **sums)


def _change(event: Event) -> WordChange:
    if event.kind is EventKind.SEARCHED:
        return WordChange(
            event.day,
            event.word,
            event.found,
            searches=1,
            found_nothing=int(event.found == 0),
            followed=int(event.followed),
            ruled=int(event.ruled),
            networks=int(event.of_new_network),
        )
    return WordChange(
        event.day,
        event.word,
        clicked=int(event.kind is EventKind.CLICKED),
        added_to_basket=int(event.kind is EventKind.ADDED),
        ordered=int(event.kind is EventKind.ORDERED),
        revenue=event.revenue,
    )


@dataclass(frozen=True, slots=True)
class ProductChange:
    """An increment of a product's counts for one search in the week that begins on a Monday. `weight` sums up, in
    hundredths, by how much each open counts for the place at which the product stood. `all_opens`, `all_weight` and
    `all_bought` are those of the whole week so far, as far as the shop remembers."""

    week: date
    word: str
    product_id: int
    opens: int = 0
    weight: int = 0
    bought: int = 0
    all_opens: int = 0
    all_weight: int = 0
    all_bought: int = 0

    @property
    def key(self) -> Key:
        return self.week, self.word, self.product_id


def aggregate_products(events: Iterable[Event]) -> list[ProductChange]:
    """Return one change for each week, search and product, in this order."""
    changes: dict[Key, ProductChange] = {}
    for event in events:
        if event.kind.is_of_product and event.product_id is not None:
            change = ProductChange(week_of(event.day), event.word, event.product_id)
            if event.kind is EventKind.BOUGHT:
                change = replace(change, bought=event.visits, all_bought=event.all_visits)
            else:
                change = replace(change, opens=event.visits, weight=event.weight)
                change = replace(change, all_opens=event.all_visits, all_weight=event.all_weight)
            if known := changes.get(change.key):
                sums = {name: getattr(known, name) + getattr(change, name) for name in PRODUCT_COUNTS}
                latest = {name: max(getattr(known, name), getattr(change, name)) for name in COUNTS_OF_WEEK}
                change = replace(change, **sums, **latest)
            changes[change.key] = change
    return [changes[key] for key in sorted(changes)]


@dataclass(frozen=True, slots=True)
class Rephrased:
    """Visits that searched `word` and then `next_word` in a period, and in how many of its `weeks`. `followed` searches
    of the word were made while clicks were recorded; `popularity` is the next word's share of all searches."""

    word: str
    next_word: str
    visits: int
    weeks: int
    followed: int
    popularity: float


def pairs_within_bounds(
    visits: Mapping[Pair, RephrasedVisits], stored: Mapping[Pair, int], clicks: Mapping[str, int]
) -> dict[Pair, int]:
    """Return the visits to add to those `stored` of the week, so that there are at most MOST_PAIRS different pairs,
    none has more visits than its second search has `clicks`, and none fewer than FEWEST_VISITS."""
    added, room = {}, MOST_PAIRS - len(stored)
    for pair, counted in sorted(visits.items(), key=lambda item: item[0]):
        wanted = max(counted.new, counted.of_week - stored.get(pair, 0))
        fitting = min(wanted, clicks.get(pair[1], 0) - stored.get(pair, 0))
        is_shared = stored.get(pair, 0) + fitting >= FEWEST_VISITS
        if fitting > 0 and is_shared and (pair in stored or room > 0):
            room -= pair not in stored
            added[pair] = fitting
    return added
