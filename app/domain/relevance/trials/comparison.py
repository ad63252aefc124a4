"""The first ten of a search before and after a change, side by side. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from app.domain.search.engine import Hit
from app.domain.search.serving.query import FirstTen
from app.domain.search.serving.rules import Banner


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
        parts = [f"{number} {word}" for number, word in self._counted() if number]
        changes = [f"{', '.join(parts)} in the first ten"] if parts else []
        if self.before.redirect != self.after.redirect:
            to = self.after.redirect
            changes.insert(0, f"goes to {to}" if to else f"no longer goes to {self.before.redirect}")
        if self.before.banner != self.after.banner:
            changes.append("the banner changes")
        return "; ".join(changes) or f"{self._difference()} found, the first ten stay"

    def _difference(self) -> str:
        more = self.after.total - self.before.total
        return f"{abs(more):,} {'more' if more > 0 else 'fewer'}"

    def _counted(self) -> tuple[tuple[int, str], ...]:
        return (self.new, "new"), (self.moved, "moved"), (self.gone, "gone")


def compared(words: str, before: FirstTen, after: FirstTen) -> Comparison:
    was = {hit.id: position for position, hit in enumerate(before.hits, 1)}
    now = {hit.id for hit in after.hits}
    return Comparison(
        words,
        _side(before, tuple(_before(hit, position, now) for position, hit in enumerate(before.hits, 1))),
        _side(after, tuple(_after(hit, position, was, after) for position, hit in enumerate(after.hits, 1))),
    )


def _side(ten: FirstTen, places: tuple[RankedProduct, ...]) -> Side:
    corrected = ten.result.suggestion if ten.result.corrected else None
    return Side(ten.total, places, ten.plan.redirect, ten.plan.banner, corrected)


def _before(hit: Hit, position: int, now: set[str]) -> RankedProduct:
    return RankedProduct(position, hit.card, Movement.SAME if hit.id in now else Movement.GONE)


def _after(hit: Hit, position: int, was: Mapping[str, int], after: FirstTen) -> RankedProduct:
    rule = after.plan.rule
    pinned = rule is not None and any(pin.sku == hit.card.get("sku") for pin in rule.pins)
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
