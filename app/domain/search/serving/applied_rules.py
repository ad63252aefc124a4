"""What the rules that apply to one search do together, and what each of them yields to another. Pure.

The rules come by precedence (`Rule.precedence`). The first with a redirect, or a banner, gives it; a position belongs
to the first rule that pins to it, and a product stays where the first rule that names it puts it. What a rule names by
its SKU goes before groups, and of groups the first that holds a product counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from app.domain.search.serving.product_groups import ProductGroup
from app.domain.search.serving.rules import PinnedSku, Rule


@dataclass(frozen=True, slots=True)
class LostEffect:
    """An effect of a rule, such as "its banner", that another rule takes."""

    rule: Rule
    effect: str
    winner: Rule


@dataclass(frozen=True, slots=True)
class AppliedRules:
    """`redirect` and `banner` are the rules that give them; `groups` are (whether it is boosted, the group), the first
    counts before the others; a rule's buried ones come before its boosted ones."""

    pins: tuple[PinnedSku, ...] = ()
    boosts: tuple[str, ...] = ()
    buries: tuple[str, ...] = ()
    groups: tuple[tuple[bool, ProductGroup], ...] = ()
    redirect: Rule | None = None
    banner: Rule | None = None
    lost: tuple[LostEffect, ...] = ()

    @property
    def skus(self) -> tuple[str, ...]:
        return (*(pin.sku for pin in self.pins), *self.boosts, *self.buries)


NOTHING = AppliedRules()


def combine(rules: Sequence[Rule]) -> AppliedRules:
    """Return what the rules do together, given by precedence."""
    if not rules:
        return NOTHING
    redirect = next((rule for rule in rules if rule.redirect_url), None)
    banner = next((rule for rule in rules if rule.banner), None)
    placing = _Placing()
    for rule in rules:
        placing.add(rule)
    lost = [*_lost_pages(rules, redirect, banner), *placing.lost]
    groups = [pair for rule in rules for pair in _groups_of(rule)]
    pins = tuple(pin for _, (pin, _) in sorted(placing.positions.items()))
    return AppliedRules(
        pins, tuple(placing.boosts), tuple(placing.buries), tuple(groups), redirect, banner, tuple(lost)
    )


def _groups_of(rule: Rule) -> Iterator[tuple[bool, ProductGroup]]:
    """Yield the groups of a rule; what it buries is not boosted."""
    yield from ((False, group) for group in rule.bury_groups)
    yield from ((True, group) for group in rule.boost_groups)


def _lost_pages(rules: Sequence[Rule], redirect: Rule | None, banner: Rule | None) -> Iterator[LostEffect]:
    for rule in rules:
        if rule.redirect_url and redirect is not None and rule is not redirect:
            yield LostEffect(rule, f"the redirect to {rule.redirect_url}", redirect)
        if rule.banner and banner is not None and rule is not banner:
            yield LostEffect(rule, "the banner", banner)


class _Placing:
    """Products as the rules that were added place them by their SKUs."""

    def __init__(self) -> None:
        self.positions: dict[int, tuple[PinnedSku, Rule]] = {}
        self.boosts: list[str] = []
        self.buries: list[str] = []
        self.lost: list[LostEffect] = []
        self._owners: dict[str, Rule] = {}

    def add(self, rule: Rule) -> None:
        for pin in rule.pins:
            _, owner = self.positions.get(pin.position, (pin, self._owners.get(pin.sku, rule)))
            if owner is rule:
                self.positions[pin.position] = pin, rule
                self._owners[pin.sku] = rule
            else:
                self.lost.append(LostEffect(rule, f"{pin.sku} at position {pin.position}", owner))
        self._place(rule, rule.boosts, self.boosts, "up")
        self._place(rule, rule.buries, self.buries, "last")

    def _place(self, rule: Rule, skus: Iterable[str], placed: list[str], place: str) -> None:
        for sku in skus:
            owner = self._owners.setdefault(sku, rule)
            if owner is rule:
                placed.append(sku)
            else:
                self.lost.append(LostEffect(rule, f"{sku} {place}", owner))
