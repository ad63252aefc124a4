"""The first ten of a search before and after a change, side by side. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from app.domain.search.engine import Hit
from app.domain.search.live.asking import Ten
from app.domain.search.live.served import Banner


class Mark(StrEnum):
    """What became of a place: GONE stands before the change, the others after it."""

    SAME = "same"
    UP = "up"
    DOWN = "down"
    NEW = "new"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Place:
    """A product at a 1-based position. `steps` is by how many places it moved."""

    position: int
    card: Mapping[str, object]
    mark: Mark = Mark.SAME
    steps: int = 0
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class Side:
    """`redirect` is where shoppers are sent instead of to the results, which are what they would find otherwise."""

    total: int
    places: tuple[Place, ...]
    redirect: str | None = None
    banner: Banner | None = None
    corrected_to: str | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """`words` is what was searched for."""

    words: str
    before: Side
    after: Side

    def count(self, *marks: Mark) -> int:
        return sum(place.mark in marks for place in self.after.places)

    @property
    def new(self) -> int:
        return self.count(Mark.NEW)

    @property
    def moved(self) -> int:
        return self.count(Mark.UP, Mark.DOWN)

    @property
    def gone(self) -> int:
        return sum(place.mark is Mark.GONE for place in self.before.places)

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
        """What changes, in a few words; "nothing changes" where nothing does."""
        if not self.is_changed:
            return "nothing changes"
        parts = [f"{number} {word}" for number, word in self._counted() if number]
        told = [f"{', '.join(parts)} in the first ten"] if parts else []
        if self.before.redirect != self.after.redirect:
            to = self.after.redirect
            told.insert(0, f"goes to {to}" if to else f"no longer goes to {self.before.redirect}")
        if self.before.banner != self.after.banner:
            told.append("the banner changes")
        return "; ".join(told) or f"{self._difference()} found, the first ten stay"

    def _difference(self) -> str:
        more = self.after.total - self.before.total
        return f"{abs(more):,} {'more' if more > 0 else 'fewer'}"

    def _counted(self) -> tuple[tuple[int, str], ...]:
        return (self.new, "new"), (self.moved, "moved"), (self.gone, "gone")


def compared(words: str, before: Ten, after: Ten) -> Comparison:
    was = {hit.id: position for position, hit in enumerate(before.hits, 1)}
    now = {hit.id for hit in after.hits}
    return Comparison(
        words,
        _side(before, tuple(_before(hit, position, now) for position, hit in enumerate(before.hits, 1))),
        _side(after, tuple(_after(hit, position, was, after) for position, hit in enumerate(after.hits, 1))),
    )


def _side(ten: Ten, places: tuple[Place, ...]) -> Side:
    corrected = ten.result.suggestion if ten.result.corrected else None
    return Side(ten.total, places, ten.plan.redirect, ten.plan.banner, corrected)


def _before(hit: Hit, position: int, now: set[str]) -> Place:
    return Place(position, hit.card, Mark.SAME if hit.id in now else Mark.GONE)


def _after(hit: Hit, position: int, was: Mapping[str, int], after: Ten) -> Place:
    rule = after.plan.rule
    pinned = rule is not None and any(pin.sku == hit.card.get("sku") for pin in rule.pins)
    known = was.get(hit.id)
    if known is None:
        return Place(position, hit.card, Mark.NEW, 0, pinned)
    mark = Mark.SAME if known == position else Mark.UP if known > position else Mark.DOWN
    return Place(position, hit.card, mark, abs(known - position), pinned)


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
        "banner": {"text": side.banner.text, "linkUrl": side.banner.link_url} if side.banner else None,
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
