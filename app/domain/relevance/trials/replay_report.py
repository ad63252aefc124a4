"""The report of a replay: what a change does to the top searches. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from app.domain.relevance.trials.comparison import Comparison

MOST_LISTED = 200


@dataclass(frozen=True, slots=True)
class Touched:
    """A search that the change touches; `searches` is how often it was made in the last 30 days, `before` and `after`
    how much it finds."""

    query: str
    searches: int
    before: int
    after: int
    summary: str
    less: bool

    @classmethod
    def of(cls, comparison: Comparison, searches: int) -> Touched:
        totals = comparison.before.total, comparison.after.total
        return cls(comparison.words, searches, *totals, comparison.summary, comparison.finds_less)


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """The report of a replay of `replayed` top searches. `touched` has those that would find less first, then the most
    searched."""

    replayed: int
    touched: tuple[Touched, ...]

    @classmethod
    def of(cls, replayed: int, touched: Iterable[Touched]) -> ReplayReport:
        return cls(replayed, tuple(sorted(touched, key=lambda one: (not one.less, -one.searches, one.query))))

    @property
    def monthly(self) -> int:
        return sum(one.searches for one in self.touched)

    @property
    def less(self) -> int:
        return sum(one.less for one in self.touched)

    @property
    def newly_found(self) -> int:
        """Searches that find nothing today and something then."""
        return sum(one.before == 0 < one.after for one in self.touched)

    @property
    def sentence(self) -> str:
        if not self.replayed:
            return "No searches were counted in the last 30 days, so there is nothing to replay."
        if not self.touched:
            return f"Touches none of your {self._replayed()}."
        found = f", {self.newly_found} would find something for the first time" if self.newly_found else ""
        head = f"Touches {len(self.touched)} of your {self._replayed()}, about {self.monthly:,} {self._times()} a month"
        return f"{head}{found}; {self.less or 'none'} would find less."

    def _replayed(self) -> str:
        return "one top search" if self.replayed == 1 else f"{self.replayed} top searches"

    def _times(self) -> str:
        return "search" if self.monthly == 1 else "searches"

    def as_json(self) -> dict[str, Any]:
        items = [
            {
                "query": one.query,
                "searches": one.searches,
                "before": one.before,
                "after": one.after,
                "summary": one.summary,
                "less": one.less,
            }
            for one in self.touched[:MOST_LISTED]
        ]
        return {"replayed": self.replayed, "touched": items}


def read_report(stored: Mapping[str, Any]) -> ReplayReport:
    touched = tuple(Touched(**{name: item[name] for name in Touched.__slots__}) for item in stored.get("touched", ()))
    return ReplayReport(stored.get("replayed", 0), touched)
