"""The verdict of a comparison of two rankings, by how often shoppers first opened a product of the one or the other
side of an interleaved search. Pure.

Each such click is one trial: without a difference between the sides the candidate wins half of them. A comparison ends
when there are ENOUGH clicks, or its period is over; then an exact binomial test decides (the interval of Clopper and
Pearson). That is one look, and its time depends only on how many clicks there are, so the level holds. Before that,
it ends only for overwhelming evidence: a mixture of likelihood ratios is a martingale without a difference, so the
chance that it ever exceeds 1 / EARLY is at most EARLY, however often one looks (Ville; Howard and others 2021). Both
together raise a false alarm in at most five of a hundred comparisons (docs/adr/0077-ranking-comparisons.md).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from math import exp, lgamma, log
from typing import Any

from app.domain.search.ranking.interleaving import Side

ENOUGH = 801  # Decisive clicks that find 55 to 45 in four of five comparisons; an odd number cannot be even.
FALSE_ALARMS = 0.05
EARLY = 0.0015
FINAL = FALSE_ALARMS - EARLY
POWER, FOUND_SHARE = 0.8, 0.55  # What ENOUGH is enough for.
PRIOR = 10  # The mixture is a beta distribution of (PRIOR, PRIOR): differences of up to 60 to 40 are likely.
_STEPS = 40  # Of a bisection; more than a float of this size can tell apart in a percentage.
_LEAST = 1e-9
BEYOND_A_GROUP = 1_000  # No clicks that are summed as one number are as many.


class Ending(StrEnum):
    """Why a comparison ended: by the number of clicks, by overwhelming evidence, by its period, by a person, because
    what it compares was changed meanwhile."""

    ENOUGH = "enough"
    EARLY = "early"
    PERIOD = "period"
    STOPPED = "stopped"
    CHANGED = "changed"

    @property
    def is_final_look(self) -> bool:
        """Whether the exact test applies, which does not hold at a time that people chose by what they saw."""
        return self in (Ending.ENOUGH, Ending.PERIOD)


class Verdict(StrEnum):
    BETTER = "better"
    WORSE = "worse"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Wins:
    """How often shoppers first opened a product of the present ranking, of the candidate, or one of neither (`ties`),
    once for each search of a visit."""

    present: int = 0
    candidate: int = 0
    ties: int = 0

    @classmethod
    def of(cls, side: Side | None) -> Wins:
        """Return the wins of one click on a product of this side, or of neither."""
        return cls(int(side is Side.PRESENT), int(side is Side.CANDIDATE), int(side is None))

    @classmethod
    def of_number(cls, number: int) -> Wins:
        """Return the wins of the sum of numbers that `as_number` returned."""
        rest, present = divmod(number, BEYOND_A_GROUP)
        ties, candidate = divmod(rest, BEYOND_A_GROUP)
        return cls(present, candidate, ties)

    @property
    def as_number(self) -> int:
        """The wins of a few clicks as one number, so that a memory that sums numbers sums them."""
        return self.present + BEYOND_A_GROUP * (self.candidate + BEYOND_A_GROUP * self.ties)

    def __add__(self, other: Wins) -> Wins:
        return Wins(self.present + other.present, self.candidate + other.candidate, self.ties + other.ties)

    @property
    def total(self) -> int:
        return self.decisive + self.ties

    @property
    def decisive(self) -> int:
        return self.present + self.candidate

    @property
    def share(self) -> float | None:
        """The candidate's share of the decisive clicks; None without any."""
        return self.candidate / self.decisive if self.decisive else None

    def as_json(self) -> dict[str, int]:
        return {"present": self.present, "candidate": self.candidate, "ties": self.ties}


@dataclass(frozen=True, slots=True)
class Interval:
    """Where the candidate's share of decisive clicks lies, from 0 to 1."""

    low: float
    high: float

    @property
    def verdict(self) -> Verdict:
        if self.low > 0.5:
            return Verdict.BETTER
        return Verdict.WORSE if self.high < 0.5 else Verdict.UNDECIDED

    def as_json(self) -> dict[str, Any]:
        return {"low": round(self.low, 4), "high": round(self.high, 4)}


def interval(wins: Wins, is_final_look: bool) -> Interval:
    """Return the interval of a comparison at any time, or at its one last look, where it is narrower."""
    return _interval(wins.candidate, wins.decisive, is_final_look)


@lru_cache(maxsize=256)
def _interval(candidate: int, decisive: int, is_final_look: bool) -> Interval:
    if not decisive:
        return Interval(0.0, 1.0)
    low, high = _bounds(candidate, decisive, lambda share: log_evidence(candidate, decisive, share) < -log(EARLY))
    if is_final_look:
        exact_low = _exact_low(candidate, decisive)
        exact_high = 1 - _exact_low(decisive - candidate, decisive)
        low, high = max(low, exact_low), min(high, exact_high)
    return Interval(low, high)


def is_overwhelming(wins: Wins) -> bool:
    """Whether the evidence for a difference ends a comparison early."""
    return log_evidence(wins.candidate, wins.decisive, 0.5) >= -log(EARLY)


def log_evidence(candidate: int, decisive: int, share: float) -> float:
    """Return the logarithm of the evidence against a true share: the likelihood of so many wins, averaged over the
    beta distribution of PRIOR, beside their likelihood with that share."""
    present = decisive - candidate
    mixed = _log_beta(PRIOR + candidate, PRIOR + present) - _log_beta(PRIOR, PRIOR)
    return mixed - candidate * log(share) - present * log(1 - share)


def ending_of(wins: Wins, is_period_over: bool) -> Ending | None:
    """Return why a comparison with these wins ends now by itself; None where it goes on."""
    if wins.decisive >= ENOUGH:
        return Ending.ENOUGH
    if is_overwhelming(wins):
        return Ending.EARLY
    return Ending.PERIOD if is_period_over else None


def days_until_enough(wins: Wins, clicks_a_day: float) -> int | None:
    """Return in how many days there are ENOUGH decisive clicks at this rate; None where there are none."""
    missing = max(0, ENOUGH - wins.decisive)
    return None if clicks_a_day <= 0 else -int(-missing // clicks_a_day)


def _bounds(candidate: int, decisive: int, is_within: Callable[[float], bool]) -> tuple[float, float]:
    """Return the ends of the interval around the observed share in which `is_within` holds."""
    centre = min(max(candidate / decisive, _LEAST), 1 - _LEAST)
    low = 0.0 if is_within(_LEAST) else _bisect(_LEAST, centre, is_within)
    high = 1.0 if is_within(1 - _LEAST) else _bisect(1 - _LEAST, centre, is_within)
    return low, high


def _exact_low(won: int, decisive: int) -> float:
    """Return the lower end of the exact interval: the share with which so many wins or more are as rare as FINAL / 2.
    The upper end is that of the other side's wins, counted from 1."""
    if not won:
        return 0.0
    return _bisect(0.0, won / decisive, lambda share: _tail(won, decisive, share) > FINAL / 2)


def _bisect(outside: float, within: float, is_within: Callable[[float], bool]) -> float:
    for _ in range(_STEPS):
        middle = (outside + within) / 2
        if is_within(middle):
            within = middle
        else:
            outside = middle
    return outside


def _tail(won: int, decisive: int, share: float) -> float:
    """Return the probability of `won` or more wins among `decisive` clicks, for a share between 0 and 1."""
    ways, odds = lgamma(decisive + 1) + decisive * log(1 - share), log(share) - log(1 - share)
    counts = range(won, decisive + 1)
    return sum(exp(ways - lgamma(wins + 1) - lgamma(decisive - wins + 1) + wins * odds) for wins in counts)


def _log_beta(first: float, second: float) -> float:
    return lgamma(first) + lgamma(second) - lgamma(first + second)
