"""Change the rule of a search, named by its words; the rule is added where there is none. Call these within a
transaction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.domain.relevance.rules import editing
from app.domain.relevance.rules.models import SearchRule
from app.domain.relevance.rules.placing import Placement
from app.domain.search.serving.rules import RULE, Rule
from app.domain.shared.author import Author
from app.domain.shared.problems import Invalid, NotFound
from app.domain.shared.text import one_line


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
    author: Author, term: str, placement: Placement, fields: Mapping[str, Any], revision: int | None = None
) -> RuleStep:
    """Apply a placement to the rule of a search, then set the given fields of its JSON; with a `revision`, only if the
    rule has that revision. Raises NotFound where such a rule is gone, StaleRevision, Conflict, and Invalid with every
    problem at its argument (`Placement.at_arguments`)."""
    row = editing.rule_for(author.site_id, term)
    if row is None and revision is not None:
        raise _missing(term)
    before = row.value if row is not None else None
    wanted = _wanted(before or Rule(term=term), placement, fields)
    try:
        if row is None:
            row = editing.add(author, wanted)
        else:
            row, _ = editing.change(author, row.id, row.revision if revision is None else revision, wanted)
    except Invalid as refused:
        raise Invalid(list(placement.at_arguments(refused.problems, wanted))) from None
    return RuleStep(row.id, before, row.value, row)


def _wanted(rule: Rule, placement: Placement, fields: Mapping[str, Any]) -> Rule:
    """Return the rule with the placement and the fields. Raises Invalid for fields that the JSON of a rule does not
    have."""
    placed = placement.applied_to(rule)
    return Rule.of_json(RULE.load(placed.as_json() | dict(fields)), placed.id)


def remove_rule(author: Author, term: str, revision: int | None = None) -> RuleStep:
    """Delete the rule of a search. Raises NotFound, StaleRevision."""
    row = existing_rule(author.site_id, term)
    rule_id, before = row.id, row.value
    editing.delete(author, rule_id, row.revision if revision is None else revision)
    return RuleStep(rule_id, before, None, None)


def existing_rule(site_id: int, term: str) -> SearchRule:
    """Return the rule of a search. Raises NotFound."""
    row = editing.rule_for(site_id, term)
    if row is None:
        raise _missing(term)
    return row


def _missing(term: str) -> NotFound:
    return NotFound(f"There is no rule for “{one_line(term)[:80]}” on this site.")
