"""What shoppers open and buy for a search, learned as factors for the scores of its products and their levels. Pure.

The counts are by week: how often each product was opened from what the words showed and then bought. People look at
what stands on top whether or not it is what they want; an opened product therefore counts by the inverse of how likely
its place is looked at (inverse propensity), which makes the sum of its counts an unbiased measure of how often shoppers
who looked at it opened it (docs/adr/0048-learning-from-clicks.md).

A score is only ever moved up, and never by more than LIFT: what the words say stays what counts most.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import log2
from statistics import median
from typing import TypeVar

_Key = TypeVar("_Key", int, str)

WINDOW = 9  # Weeks, the current one among them; older counts are not read.
HALF_LIFE = 3  # Weeks, after which a count counts half; at the end of the window an eighth is left.
LAST_PLACE = 24  # Further down, places count as this one, so that no single click weighs more than 4.7.
PURCHASE = 4  # Opens that a purchase is worth on top of its own.

FEWEST_A_WEEK = 8  # Opens of a product: a network counts once a day, so one fond shopper never makes as many.
FEWEST_WEEKS = 3  # With so many; a campaign or a colleague is gone by then.
FEWEST_VISITS_OF_LEVEL = 20
FEWEST_PRODUCTS_OF_LEVEL = 2  # Else the level would only say once more what its product says.
BUSIEST_WEEK = 3  # Times the median of the weeks in which a product was opened: a busier one counts as one so busy.

LIFT = 0.5  # The most that is added to the score of a product, and
LEVEL_LIFT = 0.2  # to those of a level, which are many.
DOUBT = 10  # Visits with which half of the lift is earned.
DOUBT_OF_LEVEL = 20
LEAST_LIFT = 0.01  # Less changes nothing that anybody could see.

MOST_SEARCHES = 500  # Of a site, those with the most opens.
MOST_PRODUCTS = 20  # Of a search.
MOST_LEVELS = 3


def examination(place: int | None) -> float:
    """Return the likelihood that a shopper looks at a 1-based place, beside the first: the discount of NDCG. A place
    that is not known counts as the first, which gives its clicks the least weight."""
    return 1 / log2(1 + min(max(place or 1, 1), LAST_PLACE))


@dataclass(frozen=True, slots=True)
class ProductCount:
    """A product opened from one search in one week, `age` weeks ago: in how many visits, the sum of the inverse
    propensities of these opens, and in how many of them it was bought."""

    product_id: int
    age: int
    opens: int
    weight: float
    bought: int = 0


@dataclass(frozen=True, slots=True)
class LearnedProduct:
    """`opens` and `bought` are what was counted, as evidence for people."""

    product_id: int
    factor: float
    opens: int
    bought: int


@dataclass(frozen=True, slots=True)
class LearnedLevel:
    level_id: str
    factor: float
    opens: int


@dataclass(frozen=True, slots=True)
class LearnedSearch:
    """What one search taught, most first."""

    products: tuple[LearnedProduct, ...] = ()
    levels: tuple[LearnedLevel, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.products or self.levels)


@dataclass(slots=True)
class _Evidence:
    """The counts of a product or a level. `visits` are opens without those that are too many for one week, `recent` the
    same decayed, `attraction` these by inverse propensity and with purchases."""

    opens: int = 0
    bought: int = 0
    visits: float = 0.0
    recent: float = 0.0
    attraction: float = 0.0
    weeks: set[int] = field(default_factory=set)
    products: set[int] = field(default_factory=set)

    def add(self, count: ProductCount, believed: float) -> None:
        """Add a week's count; `believed` is how many of its opens may teach."""
        decayed = believed * 0.5 ** (count.age / HALF_LIFE)
        self.opens += count.opens
        self.bought += count.bought
        self.visits += believed
        self.recent += decayed
        self.attraction += decayed * (count.weight + PURCHASE * count.weight * count.bought / count.opens) / count.opens
        self.weeks.add(count.age)
        self.products.add(count.product_id)

    def is_enough(self, visits: int = 0, products: int = 1) -> bool:
        return len(self.weeks) >= FEWEST_WEEKS and self.visits >= visits and len(self.products) >= products

    def confidence(self, doubt: int) -> float:
        return self.recent / (self.recent + doubt)


def learn(counts: Iterable[ProductCount], levels: Mapping[int, str | None]) -> LearnedSearch:
    """Return what the counts of one search teach. `levels` has the products that may be shown, each with its level.
    What few opened in a week is left out, so that it neither adds to other weeks nor takes from them."""
    weeks: dict[int, list[ProductCount]] = defaultdict(list)
    for count in counts:
        if 0 <= count.age < WINDOW and count.product_id in levels and count.opens >= FEWEST_A_WEEK:
            weeks[count.product_id].append(count)
    by_product: dict[int, _Evidence] = defaultdict(_Evidence)
    by_level: dict[str, _Evidence] = defaultdict(_Evidence)
    for product_id, own in weeks.items():
        level, most = levels[product_id], BUSIEST_WEEK * median(count.opens for count in own)
        for evidence in (by_product[product_id], *((by_level[level],) if level else ())):
            for count in own:
                evidence.add(count, min(count.opens, most))
    return LearnedSearch(_products(by_product), _levels(by_level))


def _products(evidence: Mapping[int, _Evidence]) -> tuple[LearnedProduct, ...]:
    enough = {id: one for id, one in evidence.items() if one.is_enough()}
    factors = _factors(enough, LIFT, DOUBT)
    found = (LearnedProduct(id, factors[id], one.opens, one.bought) for id, one in enough.items() if id in factors)
    return tuple(sorted(found, key=lambda one: (-one.factor, one.product_id))[:MOST_PRODUCTS])


def _levels(evidence: Mapping[str, _Evidence]) -> tuple[LearnedLevel, ...]:
    enough = {
        id: one for id, one in evidence.items() if one.is_enough(FEWEST_VISITS_OF_LEVEL, FEWEST_PRODUCTS_OF_LEVEL)
    }
    factors = _factors(enough, LEVEL_LIFT, DOUBT_OF_LEVEL)
    found = (LearnedLevel(id, factors[id], one.opens) for id, one in enough.items() if id in factors)
    return tuple(sorted(found, key=lambda one: (-one.factor, one.level_id))[:MOST_LEVELS])


def _factors(evidence: Mapping[_Key, _Evidence], lift: float, doubt: int) -> dict[_Key, float]:
    """Return the factors: the one that attracts most gets the whole lift that its evidence earns, the others their
    share of it. How often the words were searched is the same for all of them, and cancels out."""
    largest = max((one.attraction for one in evidence.values()), default=0.0)
    earned = {
        id: lift * one.confidence(doubt) * one.attraction / largest for id, one in evidence.items() if one.attraction
    }
    return {id: round(1 + more, 4) for id, more in earned.items() if more >= LEAST_LIFT}
