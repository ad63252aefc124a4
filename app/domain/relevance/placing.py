"""Placement of products in the rule of a search, named by its words; the rest of the rule stays as it is.

Call `take_step` and `remove_rule` within a transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from app.domain.relevance import rules
from app.domain.relevance.models import SearchRule
from app.domain.relevance.rule_definition import LAST_POSITION
from app.domain.search.serving.rules import RULE, PinnedSku, Rule
from app.domain.search.serving.term_index import Match
from app.domain.shared.author import Author
from app.domain.shared.problems import Invalid, NotFound, Problem
from app.domain.shared.text import one_line


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
                return _pin(rule, self.skus, self.position)
            case PlacementKind.BOOST:
                rest = _remove_skus(rule, set(self.skus).difference(rule.boosts))
                return replace(rest, boosts=_add_skus(rest.boosts, self.skus))
            case PlacementKind.BURY:
                rest = _remove_skus(rule, set(self.skus).difference(rule.buries))
                return replace(rest, buries=_add_skus(rest.buries, self.skus))
            case PlacementKind.NONE:
                return _remove_skus(rule, self.skus)

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


def _pin(rule: Rule, skus: Sequence[str], position: int | None) -> Rule:
    rest = _remove_skus(rule, skus)
    places: Iterable[int] = _free_places(rest) if position is None else range(position, position + len(skus))
    return replace(rest, pins=(*rest.pins, *map(PinnedSku, skus, places)))


def _add_skus(placed: Sequence[str], skus: Sequence[str]) -> tuple[str, ...]:
    return (*placed, *(sku for sku in skus if sku not in placed))


def _remove_skus(rule: Rule, skus: Iterable[str]) -> Rule:
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


@dataclass(frozen=True, slots=True)
class RuleStep:
    """A change of a rule: `before` and `after` are its values, None where there is no rule; `row` is the stored
    rule."""

    rule_id: int
    before: Rule | None
    after: Rule | None
    row: SearchRule | None

    @property
    def is_change(self) -> bool:
        return self.before != self.after


def take_step(
    author: Author,
    term: str,
    placement: Placement,
    fields: Mapping[str, Any],
    revision: int | None = None,
    match: Match = Match.EXACT,
) -> RuleStep:
    """Apply a placement to the rule of a term, then set the given fields of its JSON; with a `revision`, only if the
    rule has that revision. Raises NotFound where such a rule is gone, StaleRevision, Conflict, and Invalid with every
    problem at its argument (`Placement.at_arguments`)."""
    row = rules.rule_for(author.site_id, term, match)
    if row is None and revision is not None:
        raise _missing_rule(term)
    before = row.value if row is not None else None
    wanted = _changed_rule(before or Rule(term=term, match=match), placement, fields)
    try:
        if row is None:
            row = rules.add(author, wanted)
        else:
            row, _ = rules.change(author, row.id, row.revision if revision is None else revision, wanted)
    except Invalid as refused:
        raise Invalid(list(placement.at_arguments(refused.problems, wanted))) from None
    return RuleStep(row.id, before, row.value, row)


def _changed_rule(rule: Rule, placement: Placement, fields: Mapping[str, Any]) -> Rule:
    """Return the rule with the placement and the fields. Raises Invalid for fields that the JSON of a rule does not
    have."""
    placed = placement.applied_to(rule)
    return Rule.of_json(RULE.load(placed.as_json() | dict(fields)), placed.id)


def remove_rule(author: Author, term: str, revision: int | None = None, match: Match = Match.EXACT) -> RuleStep:
    """Delete the rule of a term. Raises NotFound, StaleRevision."""
    row = existing_rule(author.site_id, term, match)
    rule_id, before = row.id, row.value
    rules.delete(author, rule_id, row.revision if revision is None else revision)
    return RuleStep(rule_id, before, None, None)


def existing_rule(site_id: int, term: str, match: Match = Match.EXACT) -> SearchRule:
    """Return the rule of a term. Raises NotFound."""
    row = rules.rule_for(site_id, term, match)
    if row is None:
        raise _missing_rule(term)
    return row


def _missing_rule(term: str) -> NotFound:
    return NotFound(f"There is no rule for “{one_line(term)[:80]}” on this site.")
