"""The table that compares searches before a change with those after it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from app.domain.search_statistics.counting.sums import Sums
from app.domain.search_statistics.reports.measures import LABELS, NONE, percent, share
from app.domain.shared.money import format_money

SIGNIFICANT = 1.96  # Standard errors.
LESS_IS_BETTER = {"found_nothing"}


@dataclass(frozen=True, slots=True)
class EffectRow:
    """One measure: counts and, but for searches and revenue, their shares. `is_better` is None where the
    difference of the shares is not significant."""

    label: str
    before: str
    after: str
    before_share: str | None = None
    after_share: str | None = None
    is_better: bool | None = None


def effect_rows(before: Sums, after: Sums, currency: str) -> list[EffectRow]:
    return [_row(name, label, before, after, currency) for name, label in LABELS.items()]


def _row(name: str, label: str, before: Sums, after: Sums, currency: str) -> EffectRow:
    if name == "searches":  # More or fewer of them are neither good nor bad.
        return EffectRow(label, f"{before.searches:,}", f"{after.searches:,}")
    if name == "revenue":
        was, now = (format_money(one.revenue, currency) if one.followed else NONE for one in (before, after))
        return EffectRow(label, was, now)
    pair = before, after
    shares = share(before, name), share(after, name)
    counted = [NONE if part is None else f"{getattr(sums, name):,}" for sums, part in zip(pair, shares, strict=True)]
    written = [None if part is None else percent(part) for part in shares]
    is_better = None
    if shares[0] is not None and shares[1] is not None and _is_significant(name, before, after):
        is_better = (shares[1] < shares[0]) == (name in LESS_IS_BETTER)
    return EffectRow(label, counted[0], counted[1], written[0], written[1], is_better)


def _is_significant(name: str, before: Sums, after: Sums) -> bool:
    """Whether the difference is significant by the two-proportion z-test at 5 %."""
    wholes = [sums.searches if name in LESS_IS_BETTER else sums.followed for sums in (before, after)]
    counts: list[int] = [getattr(sums, name) for sums in (before, after)]
    pooled = sum(counts) / sum(wholes)
    error = sqrt(max(0.0, pooled * (1 - pooled)) * (1 / wholes[0] + 1 / wholes[1]))
    return abs(counts[0] / wholes[0] - counts[1] / wholes[1]) > SIGNIFICANT * error
