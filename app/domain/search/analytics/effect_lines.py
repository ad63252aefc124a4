"""The table that sets what searches came to before something against what they come to since. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from app.domain.search.analytics.measures import LABELS, NONE, percent, share
from app.domain.search.counting.sums import Sums
from app.domain.shared.money import format_money

ENOUGH = 1.96  # Standard errors.
LESS_IS_BETTER = {"found_nothing"}
PLAIN = {"searches"}  # More or fewer searches are neither good nor bad.


@dataclass(frozen=True, slots=True)
class Line:
    """One measure: counts, and their shares of the searches, None where there is none. `kind` is good or bad where
    the share became better or worse by more than chance would make it, else empty."""

    label: str
    before: str
    after: str
    before_share: str | None
    after_share: str | None
    kind: str


def lines(before: Sums, after: Sums, currency: str) -> list[Line]:
    return [_line(name, label, before, after, currency) for name, label in LABELS.items()]


def _line(name: str, label: str, before: Sums, after: Sums, currency: str) -> Line:
    if name in PLAIN:
        return Line(label, _count(before, name), _count(after, name), None, None, "")
    shares = share(before, name), share(after, name)
    kind = _kind(name, before, after)
    if name == "revenue":
        return Line(label, _money(before, currency), _money(after, currency), None, None, kind)
    told = [percent(one) if one is not None else None for one in shares]
    earlier, later = _counted(before, name, shares[0]), _counted(after, name, shares[1])
    return Line(label, earlier, later, told[0], told[1], kind)


def _kind(name: str, before: Sums, after: Sums) -> str:
    """Told only where chance alone would hardly make such a difference."""
    shares = share(before, name), share(after, name)
    if shares[0] is None or shares[1] is None or name == "revenue" or not _is_telling(name, before, after):
        return ""
    return "good" if (shares[1] < shares[0]) == (name in LESS_IS_BETTER) else "bad"


def _is_telling(name: str, before: Sums, after: Sums) -> bool:
    """Two shares differ by more than twice the standard error of their difference (two-proportion z-test, 5 %)."""
    wholes = [sums.searches if name in LESS_IS_BETTER else sums.followed for sums in (before, after)]
    counts: list[int] = [getattr(sums, name) for sums in (before, after)]
    pooled = sum(counts) / sum(wholes)
    error = sqrt(max(0.0, pooled * (1 - pooled)) * (1 / wholes[0] + 1 / wholes[1]))
    return abs(counts[0] / wholes[0] - counts[1] / wholes[1]) > ENOUGH * error


def _counted(sums: Sums, name: str, share: float | None) -> str:
    return NONE if share is None else _count(sums, name)


def _count(sums: Sums, name: str) -> str:
    return f"{getattr(sums, name):,}"


def _money(sums: Sums, currency: str) -> str:
    return format_money(sums.revenue, currency) if sums.followed else NONE
