"""Comparison of the first ten results of searches before and after a change, and the report of many. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from app.domain.search.engine import Hit
from app.domain.search.serving.query import FirstTen
from app.domain.search.serving.rules import Banner

MOST_LISTED = 200


class Movement(StrEnum):
    """How a product moved. GONE is on the side before the change only, UP, DOWN and NEW on the side after it."""

    SAME = "same"
    UP = "up"
    DOWN = "down"
    NEW = "new"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class RankedProduct:
    """A product at a 1-based position. `steps` is by how many places it moved."""

    position: int
    card: Mapping[str, object]
    mark: Movement = Movement.SAME
    steps: int = 0
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison. Where it has a `redirect`, shoppers are sent there and `places` are what they would
    find otherwise."""

    total: int
    places: tuple[RankedProduct, ...]
    redirect: str | None = None
    banner: Banner | None = None
    corrected_to: str | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """The first ten results of the search for `words`, before and after a change."""

    words: str
    before: Side
    after: Side

    def count(self, *marks: Movement) -> int:
        return sum(place.mark in marks for place in self.after.places)

    @property
    def new(self) -> int:
        return self.count(Movement.NEW)

    @property
    def moved(self) -> int:
        return self.count(Movement.UP, Movement.DOWN)

    @property
    def gone(self) -> int:
        return sum(place.mark is Movement.GONE for place in self.before.places)

    @property
    def is_changed(self) -> bool:
        return bool(
            self.new
            or self.moved
            or self.gone
            or self.before.total != self.after.total
            or self.before.redirect != self.after.redirect
            or self.before.banner != self.after.banner
        )

    @property
    def finds_less(self) -> bool:
        return self.after.redirect is None and self.after.total < self.before.total

    @property
    def summary(self) -> str:
        """The changes, in a few words; "nothing changes" where nothing does."""
        if not self.is_changed:
            return "nothing changes"
        counted = (self.new, "new"), (self.moved, "moved"), (self.gone, "gone")
        parts = [f"{number} {word}" for number, word in counted if number]
        changes = [f"{', '.join(parts)} in the first ten"] if parts else []
        if self.before.redirect != self.after.redirect:
            to = self.after.redirect
            changes.insert(0, f"goes to {to}" if to else f"no longer goes to {self.before.redirect}")
        if self.before.banner != self.after.banner:
            changes.append("the banner changes")
        more = self.after.total - self.before.total
        return "; ".join(changes) or f"{abs(more):,} {'more' if more > 0 else 'fewer'} found, the first ten stay"


def compare(words: str, before: FirstTen, after: FirstTen) -> Comparison:
    """Return the comparison of two answers to the search for `words`."""
    was = {hit.id: position for position, hit in enumerate(before.hits, 1)}
    now = {hit.id for hit in after.hits}
    places = tuple(
        RankedProduct(position, hit.card, Movement.SAME if hit.id in now else Movement.GONE)
        for position, hit in enumerate(before.hits, 1)
    )
    places_after = tuple(_place_after(hit, position, was, after) for position, hit in enumerate(after.hits, 1))
    return Comparison(words, _side(before, places), _side(after, places_after))


def _side(ten: FirstTen, places: tuple[RankedProduct, ...]) -> Side:
    corrected = ten.result.suggestion if ten.result.corrected else None
    return Side(ten.total, places, ten.plan.redirect, ten.plan.banner, corrected)


def _place_after(hit: Hit, position: int, was: Mapping[str, int], after: FirstTen) -> RankedProduct:
    pinned = any(pin.sku == hit.card.get("sku") for pin in after.plan.applied.pins)
    known = was.get(hit.id)
    if known is None:
        return RankedProduct(position, hit.card, Movement.NEW, 0, pinned)
    mark = Movement.SAME if known == position else Movement.UP if known > position else Movement.DOWN
    return RankedProduct(position, hit.card, mark, abs(known - position), pinned)


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    return {
        "query": comparison.words,
        "changed": comparison.is_changed,
        "before": _side_json(comparison.before),
        "after": _side_json(comparison.after),
    }


def _side_json(side: Side) -> dict[str, Any]:
    return {
        "found": side.total,
        "redirectUrl": side.redirect,
        "banner": side.banner.as_json() if side.banner else None,
        "products": [
            {
                "sku": place.card.get("sku"),
                "name": place.card.get("name"),
                "mark": place.mark.value,
                "steps": place.steps,
            }
            for place in side.places
        ],
    }


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
