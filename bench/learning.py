"""Learning from clicks, on a click model with known relevance: what is recovered, and what a bot farm moves."""

from __future__ import annotations

import random
from dataclasses import dataclass
from statistics import mean

from app.domain.search.ranking.learning import LAST_PLACE, examination
from bench.measuring import Yardstick, at_least, at_most, heading, run, sized
from tests.click_model import Examination, Product, bot_farm, by_clicks, catalogue, ndcg, ordered, shoppers

SEARCHES = sized(100)
A_DAY, FEW_A_DAY = 100, 10
MODELS: dict[str, Examination] = {
    "look as the rule believes": examination,
    "look at less": lambda place: 1 / min(place, LAST_PLACE),
    "look at more": lambda place: float(examination(place) ** 0.7),
}
FARMS = {
    "50,000 opens in one day": (range(1), 50_000),
    "2,000 a day in two weeks": (range(14), 2_000),
    "one network for 63 days": (range(63), 1),
    "ten networks for 14 days": (range(14), 10),
}
LARGE_FARMS = {
    "two networks for 63 days": (range(63), 2),
    "ten networks for 30 days": (range(30), 10),
    "20 networks for 63 days": (range(63), 20),
    "50 networks for 30 days": (range(30), 50),
}


@dataclass(frozen=True, slots=True)
class Outcome:
    start: float
    by_clicks: float
    learned: float


def main() -> None:
    for name, looks_at in MODELS.items():
        heading(f"NDCG@10 of {SEARCHES} searches, {A_DAY} a day for nine weeks, by shoppers who {name}")
        _recovered([_outcome(seed, looks_at, A_DAY) for seed in range(SEARCHES)])
    heading(f"NDCG@10 of {SEARCHES} searches, {FEW_A_DAY} a day for nine weeks")
    few = [_outcome(seed, examination, FEW_A_DAY) for seed in range(SEARCHES)]
    by_words = Yardstick("by words", mean(one.start for one in few), "")
    # Plain counts find more here, as they believe the weeks of few visits that one fond shopper could make.
    at_least("learned, beside the order by words", mean(one.learned for one in few), 1.5 * by_words)
    heading("Searches in whose order a bot farm moves anything")
    for name, (days, a_day) in FARMS.items():
        moved = sum(_moved(seed, days, a_day) for seed in range(SEARCHES))
        at_most(name, moved, Yardstick("none", 0, "of all"))
    heading("NDCG@10 beside a farm of more networks, which moves the product that it opens")
    for name, (days, a_day) in LARGE_FARMS.items():
        before, after = zip(*(_beside(seed, days, a_day) for seed in range(SEARCHES)), strict=True)
        at_least(name, mean(after), 0.8 * Yardstick("without it", mean(before), ""))


def _recovered(outcomes: list[Outcome]) -> None:
    learned = mean(one.learned for one in outcomes)
    at_least("learned, beside the order by words", learned, Yardstick("by words", mean(o.start for o in outcomes), ""))
    by_count = Yardstick("by plain counts", mean(o.by_clicks for o in outcomes), "")
    at_least("learned, beside plain counts of clicks within the same bounds", learned, by_count)


def _outcome(seed: int, looks_at: Examination, a_day: int) -> Outcome:
    dice = random.Random(seed)
    products = catalogue(dice)
    counts = shoppers(dice, products, looks_at, a_day)
    naive, learned = by_clicks(products, counts.naive()), ordered(products, counts.learned(products))
    return Outcome(*map(ndcg, (ordered(products), naive, learned)))


def _moved(seed: int, days: range, a_day: int) -> bool:
    before, after = _orders(seed, days, a_day)
    return before != after


def _beside(seed: int, days: range, a_day: int) -> tuple[float, float]:
    before, after = _orders(seed, days, a_day, A_DAY)
    return ndcg(before), ndcg(after)


def _orders(seed: int, days: range, networks: int, a_day: int = 40) -> tuple[list[Product], list[Product]]:
    """Return the order that was learned without a farm that opens the last product, and with it."""
    dice = random.Random(seed)
    products = catalogue(dice)
    counts = shoppers(dice, products, examination, a_day)
    last = ordered(products)[-1]
    counts.forget(last)
    before = ordered(products, counts.learned(products))
    bot_farm(counts, last, days, networks)
    return before, ordered(products, counts.learned(products))


if __name__ == "__main__":
    run(main)
