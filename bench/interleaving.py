"""Comparisons of rankings: drafts under a click model with known relevance, and how often a verdict is wrong or
missing."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from app.domain.search.ranking.interleaving import DEPTH, DraftKey, Side, draft
from app.domain.search.ranking.learning import examination
from app.domain.search_statistics.verdicts import (
    ENOUGH,
    FALSE_ALARMS,
    FOUND_SHARE,
    POWER,
    Verdict,
    Wins,
    interval,
    is_overwhelming,
)
from bench.measuring import Yardstick, at_least, at_most, heading, run, sized
from tests.click_model import Product, catalogue, ordered

SEARCHES, SEEDS_OF_EACH = 40, 100
COMPARISONS, AT_ONCE = sized(100_000), 10_000
ALIKE = 0.2  # The relevance of every product for shoppers who open by place alone.
BY_RELEVANCE = 100.0  # So much of the true relevance that nothing else counts.
STEPS = 14  # Of a bisection.


@dataclass(frozen=True, slots=True)
class Clicks:
    """How often the first click of an interleaved search is on a product of the present order, and of the candidate."""

    present: float
    candidate: float

    @property
    def share(self) -> float:
        return self.candidate / (self.present + self.candidate)


def main() -> None:
    dice = random.Random(7)
    catalogues = [catalogue(dice) for _ in range(SEARCHES)]
    alike = [[replace(one, relevance=ALIKE) for one in products] for products in catalogues]
    heading(f"The candidate's share of first clicks, {SEARCHES} searches, each drafted by {SEEDS_OF_EACH} seeds")
    by_place = first_clicks(alike, 0.0)
    away = abs(by_place.share - 0.5)
    at_most("away from half, by shoppers who open by place alone", away, Yardstick("a thousandth", 0.001, ""))
    half = Yardstick("half", 0.5, "")
    at_least("the order by true relevance beside that by words", first_clicks(catalogues, BY_RELEVANCE).share, half)
    share = slightly_better(catalogues).share
    heading(f"Verdicts of {COMPARISONS:,} comparisons of {ENOUGH} decisive clicks, looked at after each")
    level, power = Yardstick("the level", FALSE_ALARMS, ""), Yardstick("the aim", POWER, "")
    at_most("false alarms, shoppers who open by place alone", verdicts(by_place.share).decided, level)
    found = verdicts(FOUND_SHARE)
    at_least("55 to 45 found better", found.better, power)
    at_least("45 to 55 found worse", verdicts(1 - FOUND_SHARE).worse, power)
    at_least(f"an order with {share:.3f} of the clicks on the click model found better", verdicts(share).better, power)
    at_most("clicks until the end, at 55 to 45", found.clicks, Yardstick("enough", ENOUGH, ""))


def first_clicks(catalogues: Sequence[Sequence[Product]], lift: float) -> Clicks:
    """Return what shoppers open first where the present order is that of the words, and the candidate's another one by
    chance with so much of the true relevance in it."""
    sums = dict.fromkeys((Side.PRESENT, Side.CANDIDATE, None), 0.0)
    for number, products in enumerate(catalogues):
        relevance = {str(one.id): one.relevance for one in products}
        present = [str(one.id) for one in ordered(products)]
        candidate = [str(one.id) for one in _candidate(products, lift, number)]
        for seed in range(SEEDS_OF_EACH):
            picks = draft(present, candidate, DEPTH, DraftKey(1, seed).coins(str(number)))
            for side, likelihood in _first((pick.side, relevance[pick.id]) for pick in picks):
                sums[side] += likelihood
    return Clicks(sums[Side.PRESENT], sums[Side.CANDIDATE])


def _candidate(products: Sequence[Product], lift: float, number: int) -> list[Product]:
    dice = random.Random(number)
    scores = {one.id: dice.random() + lift * one.relevance for one in products}
    return sorted(products, key=lambda one: (-scores[one.id], one.id))


def _first(page: Iterator[tuple[Side | None, float]]) -> Iterator[tuple[Side | None, float]]:
    """Yield how likely each place of a page is the first that is opened."""
    unopened = 1.0
    for place, (side, relevance) in enumerate(page, 1):
        opens = examination(place) * relevance
        yield side, unopened * opens
        unopened *= 1 - opens


def slightly_better(catalogues: Sequence[Sequence[Product]]) -> Clicks:
    """Return the clicks of a candidate with FOUND_SHARE of those that decide, or a little more."""
    low, high = 0.0, BY_RELEVANCE
    for _ in range(STEPS):
        middle = (low + high) / 2
        if first_clicks(catalogues, middle).share < FOUND_SHARE:
            low = middle
        else:
            high = middle
    return first_clicks(catalogues, high)


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Shares of comparisons with each verdict, and how many clicks they took on average."""

    better: float
    worse: float
    clicks: float

    @property
    def decided(self) -> float:
        return self.better + self.worse


def verdicts(share: float) -> Verdicts:
    """Return what comparisons come to where the candidate truly wins this share of decisive clicks."""
    dice = np.random.default_rng(7)
    early = np.array([_fewest(clicks, is_early=True) for clicks in range(1, ENOUGH + 1)])
    last, clicks = _fewest(ENOUGH, is_early=False), np.arange(1, ENOUGH + 1)
    better = worse = taken = 0.0
    for _ in range(COMPARISONS // AT_ONCE or 1):
        won = (dice.random((min(AT_ONCE, COMPARISONS), ENOUGH), np.float32) < share).cumsum(axis=1, dtype=np.int32)
        ends = (won >= early) | (clicks - won >= early)
        end = np.where(ends.any(axis=1), ends.argmax(axis=1), ENOUGH - 1)
        wins = won[np.arange(len(won)), end]
        fewest: npt.NDArray[np.int64] = np.where(ends.any(axis=1), early[end], last)
        better += float((wins >= fewest).mean())
        worse += float((clicks[end] - wins >= fewest).mean())
        taken += float(clicks[end].mean())
    rounds = COMPARISONS // AT_ONCE or 1
    return Verdicts(better / rounds, worse / rounds, taken / rounds)


def _fewest(clicks: int, *, is_early: bool) -> int:
    """Return how many of so many clicks one side must win for a verdict; more than there are where none would do."""
    for won in range(clicks // 2, clicks + 1):
        wins = Wins(clicks - won, won)
        if is_overwhelming(wins) if is_early else interval(wins, True).verdict is Verdict.BETTER:
            return won
    return clicks + 1


if __name__ == "__main__":
    run(main)
