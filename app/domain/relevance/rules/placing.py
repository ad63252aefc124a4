"""Place products in a rule or take them out of it; the rest of the rule stays as it is. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from app.domain.relevance.rules.rule import LAST_POSITION
from app.domain.search.serving.rules import PinnedSku, Rule
from app.domain.shared.problems import Problem


class PlacementKind(StrEnum):
    PIN = "pin"
    BOOST = "boost"
    BURY = "bury"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Placement:
    """A placement of products in a rule, instead of the one that they had there; NONE takes them out. `position` is for
    pins only: that of the first product, which the others follow; None pins each at the next free place."""

    kind: PlacementKind = PlacementKind.NONE
    skus: tuple[str, ...] = ()
    position: int | None = None

    def applied_to(self, rule: Rule) -> Rule:
        match self.kind:
            case PlacementKind.PIN:
                return _pinned(rule, self.skus, self.position)
            case PlacementKind.BOOST:
                rest = _without(rule, set(self.skus).difference(rule.boosts))
                return replace(rest, boosts=_with(rest.boosts, self.skus))
            case PlacementKind.BURY:
                rest = _without(rule, set(self.skus).difference(rule.buries))
                return replace(rest, buries=_with(rest.buries, self.skus))
            case PlacementKind.NONE:
                return _without(rule, self.skus)

    def at_arguments(self, problems: Iterable[Problem], rule: Rule) -> Iterator[Problem]:
        """Yield the problems of a rule after this placement, with pointers to the arguments: `#/position`,
        `#/products/0`; or `#` for products that the rule had before."""
        for problem in problems:
            yield replace(problem, pointer=self._pointer(problem.pointer, rule))

    def _pointer(self, pointer: str, rule: Rule) -> str:
        _, name, *rest = pointer.split("/")[:4] if "/" in pointer else ("", "")
        lists = {"pins": [pin.sku for pin in rule.pins], "boosts": rule.boosts, "buries": rule.buries}
        if name not in lists:
            return pointer
        sku = lists[name][int(rest[0])] if rest else None
        if sku not in self.skus:
            return "#/products" if sku is None else "#"
        return "#/position" if rest[-1] == "position" else f"#/products/{self.skus.index(sku)}"


def _pinned(rule: Rule, skus: Sequence[str], position: int | None) -> Rule:
    rest = _without(rule, skus)
    places: Iterable[int] = _free_places(rest) if position is None else range(position, position + len(skus))
    return replace(rest, pins=(*rest.pins, *map(PinnedSku, skus, places)))


def _with(placed: Sequence[str], skus: Sequence[str]) -> tuple[str, ...]:
    return (*placed, *(sku for sku in skus if sku not in placed))


def _without(rule: Rule, skus: Iterable[str]) -> Rule:
    gone = frozenset(skus)
    return replace(
        rule,
        pins=tuple(pin for pin in rule.pins if pin.sku not in gone),
        boosts=tuple(sku for sku in rule.boosts if sku not in gone),
        buries=tuple(sku for sku in rule.buries if sku not in gone),
    )


def _free_places(rule: Rule) -> Iterator[int]:
    """Yield the positions that no pin has, in order. Those past the last one allowed are refused when the rule is
    checked."""
    taken = {pin.position for pin in rule.pins}
    return (place for place in range(1, 3 * LAST_POSITION) if place not in taken)
