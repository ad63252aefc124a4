"""Measures of rated results: NDCG at depth 10, means with their 95 per cent intervals, and how far raters agree. Pure.

The gain of a rating is 2^rating - 1, and a product that nobody rated gains nothing. Intervals are by bootstrap: as many
values are drawn with replacement, over and over, by a seeded generator, so that the same values have the same interval.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import log2
from statistics import fmean, median

DEPTH = 10
BEST = 3
LABELS: Mapping[int, str] = {0: "Wrong", 1: "Fair", 2: "Good", 3: "Exactly right"}  # By the rating.
RESAMPLES, SEED = 5_000, 2026
MOST_DRAWN = 1_000_000  # Values of all resamples together, which take a tenth of a second.
FEWEST_RESAMPLES = 200
FEWEST_MOVED = 6  # Of fewer searches even all may become better by chance, in more than one case of twenty.
NOTHING_CHANGES = 1e-9  # Differences below it come from the order of additions.


class Combination(StrEnum):
    """How the ratings of several people become one."""

    MEAN = "mean"
    MEDIAN = "median"

    def of(self, ratings: Sequence[int]) -> float:
        return float(median(ratings)) if self is Combination.MEDIAN else fmean(ratings)


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean, and the ends of the interval that holds it with 95 per cent."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ChangeOfNdcg:
    """What a change does to the NDCG of the same searches. `difference` is after less before; `better`, `worse` and
    `same` count searches."""

    before: float
    after: float
    difference: Interval
    better: int
    worse: int
    same: int

    @property
    def is_significant(self) -> bool:
        """Whether chance in the choice of the searches explains the difference in fewer than one case in twenty."""
        is_one_sided = self.difference.low > 0 or self.difference.high < 0
        return is_one_sided and self.better + self.worse >= FEWEST_MOVED

    @property
    def sentence(self) -> str:
        counts = f"{self.better:,} better, {self.worse:,} worse, {self.same:,} unchanged"
        if not (self.better or self.worse):
            return f"{self.before:.3f} before and after, {counts}"
        verdict = "significant" if self.is_significant else "not significant"
        return f"{self.before:.3f} to {self.after:.3f}, {counts}, {verdict}"

    def as_json(self) -> dict[str, float | int | bool]:
        return {
            "before": self.before,
            "after": self.after,
            "difference": self.difference.mean,
            "low": self.difference.low,
            "high": self.difference.high,
            "better": self.better,
            "worse": self.worse,
            "unchanged": self.same,
            "significant": self.is_significant,
        }


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far raters agree on the products that several of them rated. `equal` is the share of pairs of ratings that
    are the same, `alpha` Krippendorff's with the squared difference of ratings: 1 is perfect, 0 what chance would make.
    None where that says nothing: without such products, or where all their ratings are the same."""

    products: int
    equal: float | None
    alpha: float | None


def ndcg(found: Sequence[str], grades: Mapping[str, float]) -> float:
    """Return the NDCG of the first ten products found, by the rating of each product. 0 where no product answers."""
    ideal = _gain(sorted(grades.values(), reverse=True)[:DEPTH])
    return _gain([grades.get(sku, 0) for sku in found[:DEPTH]]) / ideal if ideal else 0.0


def _gain(grades: Iterable[float]) -> float:
    return sum((2**grade - 1) / log2(place + 2) for place, grade in enumerate(grades))


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def mean_with_interval(values: Sequence[float]) -> Interval:
    """Return the mean of values, of which there must be one at least, and its interval."""
    chance = random.Random(SEED)
    resamples = max(FEWEST_RESAMPLES, min(RESAMPLES, MOST_DRAWN // len(values)))
    drawn = sorted(mean(chance.choices(values, k=len(values))) for _ in range(resamples))
    return Interval(mean(values), drawn[int(0.025 * resamples)], drawn[int(0.975 * resamples)])


def compare_ndcgs(before: Mapping[int, float], after: Mapping[int, float]) -> ChangeOfNdcg:
    """Compare the NDCG of each search, by its id, before and after a change; one at least. A search that `after` lacks
    is unchanged."""
    each = [after.get(key, was) - was for key, was in before.items()]
    better, worse = (sum(sign * one > NOTHING_CHANGES for one in each) for sign in (1, -1))
    difference = mean_with_interval(each) if better or worse else Interval(0, 0, 0)
    was = mean(list(before.values()))
    return ChangeOfNdcg(was, was + difference.mean, difference, better, worse, len(each) - better - worse)


def agreement(products: Iterable[Sequence[int]]) -> Agreement:
    """Return the agreement on products, each given by the ratings of different people."""
    rated = [ratings for ratings in products if len(ratings) > 1]
    pairs = sum(len(ratings) * (len(ratings) - 1) for ratings in rated)
    if not pairs:
        return Agreement(0, None, None)
    equal = sum(number * (number - 1) for ratings in rated for number in Counter(ratings).values())
    observed = sum(_squared_differences(Counter(ratings)) / (len(ratings) - 1) for ratings in rated)
    total = Counter(rating for ratings in rated for rating in ratings)
    everything = sum(total.values())
    expected = _squared_differences(total) / (everything - 1)
    return Agreement(len(rated), equal / pairs, 1 - observed / expected if expected else None)


def _squared_differences(counts: Mapping[int, int]) -> float:
    """Return the sum of the squared differences of all ordered pairs."""
    return sum((one - other) ** 2 * counts[one] * counts[other] for one in counts for other in counts)
