"""Shoppers who click by a known click model, so that what was learned can be compared with what is true.

The model is the position-based one: a shopper looks at a place with a likelihood that depends on the place alone, and
opens what stands there with one that depends on the product alone. Programs that open one product over and over are
added as they would arrive in the counts.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log2

from app.domain.search.ranking.learning import LAST_PLACE, WINDOW, LearnedSearch, ProductCount, examination, learn
from app.domain.search_statistics.counting.gathering import FEWEST_VISITS

Examination = Callable[[int], float]
NETWORKS = 1_000  # From which shoppers come; each counts once a day.
DAYS = 7 * WINDOW
ENOUGH_TO_BUY = 0.1  # Of what was opened and is just what the shopper wanted.


@dataclass(frozen=True, slots=True)
class Product:
    """`relevance` is how likely a shopper who looks at it opens it; `score` what search gives it by its words."""

    id: int
    relevance: float
    score: float
    level: str = "L"


@dataclass(slots=True)
class Counts:
    """The counts of one search, by age in weeks."""

    products: dict[tuple[int, int], ProductCount] = field(default_factory=dict)

    def open(self, product_id: int, days_ago: int, place: int, number: int = 1, bought: int = 0) -> None:
        age = days_ago // 7
        known = self.products.get((product_id, age), ProductCount(product_id, age, 0, 0.0))
        weight = known.weight + number / examination(place)
        self.products[product_id, age] = ProductCount(
            product_id, age, known.opens + number, weight, known.bought + bought
        )

    def forget(self, product: Product) -> None:
        self.products = {key: count for key, count in self.products.items() if key[0] != product.id}

    def learned(self, products: Iterable[Product]) -> LearnedSearch:
        """Learn from what enough visits of a week share to be stored."""
        stored = [
            replace(count, bought=count.bought if count.bought >= FEWEST_VISITS else 0)
            for count in self.products.values()
            if count.opens >= FEWEST_VISITS
        ]
        return learn(stored, {one.id: one.level for one in products})

    def naive(self) -> dict[int, int]:
        """How often each product was opened, as one would count without a click model."""
        opened: dict[int, int] = {}
        for (product_id, _), count in self.products.items():
            opened[product_id] = opened.get(product_id, 0) + count.opens
        return opened


def catalogue(dice: random.Random, number: int = 40) -> list[Product]:
    """Products whose scores say little of what shoppers want: words are alike, relevance is not."""
    relevances = [dice.choice((0.02, 0.05, 0.15, 0.4)) for _ in range(number)]
    return [Product(id, relevance, 10 + dice.random()) for id, relevance in enumerate(relevances, 1)]


def shoppers(
    dice: random.Random,
    products: Sequence[Product],
    looks_at: Examination,
    a_day: int = 40,
    shown: Callable[[int, Counts], Sequence[Product]] | None = None,
) -> Counts:
    """Return the counts of a whole window. `shown` is the order at the beginning of each day, by default that of the
    scores."""
    counts, start = Counts(), ordered(products)
    networks = random.Random(NETWORKS)
    for day in reversed(range(DAYS)):
        page, seen = shown(day, counts) if shown else start, set[tuple[int, int]]()
        for _ in range(a_day):
            network = networks.randrange(NETWORKS)
            for place, product in enumerate(page, 1):
                opens = dice.random() < looks_at(place) * product.relevance
                if opens and (product.id, network) not in seen:
                    counts.open(product.id, day, place, 1, int(dice.random() < ENOUGH_TO_BUY * product.relevance))
                    seen.add((product.id, network))
    return counts


def bot_farm(counts: Counts, product: Product, days: range, a_day: int, place: int = LAST_PLACE) -> None:
    """Programs in so many networks that search and open one product, by default far down, on each of these days."""
    for day in days:
        counts.open(product.id, day, place, a_day)


def ordered(products: Iterable[Product], learned: LearnedSearch | None = None) -> list[Product]:
    """Return the products in the order of search, with the factors that were learned."""
    factors = {one.product_id: one.factor for one in learned.products} if learned else {}
    return sorted(products, key=lambda one: (-one.score * factors.get(one.id, 1.0), one.id))


def by_clicks(products: Iterable[Product], clicks: Mapping[int, int], lift: float = 0.5) -> list[Product]:
    """Return the products as moved up by naive counts, as far as learning may move them."""
    most = max(clicks.values(), default=0) or 1
    return sorted(products, key=lambda one: (-one.score * (1 + lift * clicks.get(one.id, 0) / most), one.id))


def ndcg(order: Sequence[Product], places: int = 10) -> float:
    best = sorted(order, key=lambda one: -one.relevance)
    return _gain(order[:places]) / _gain(best[:places])


def _gain(order: Sequence[Product]) -> float:
    return sum(one.relevance / log2(place + 1) for place, one in enumerate(order, 1))
