"""Import of a table of rules: a preview of what each line does, then its application."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlalchemy import select

from app.domain.catalogue.models import Product
from app.domain.relevance.rules.editing import add_checked, change_checked, rule_of
from app.domain.relevance.rules.models import SearchRule
from app.domain.relevance.rules.rule import MOST_RULES, check, tidy
from app.domain.relevance.rules.table import Cells, RuleRow, read_table
from app.domain.relevance.rules.table import rule_of as read_rule
from app.domain.relevance.rules.targets import leading_nowhere, problems_of_targets
from app.domain.search.serving import configuration
from app.domain.search.serving.rules import Rule, normalized_term
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, Invalid
from app.domain.shared.table_import import ImportLine, ImportReport, RowOutcome, refused
from app.extensions import db

AT_ONCE = 500  # SKUs of one query.
CHANGED = "The rules changed since you looked. Look at what the file does now, then import it."
Line = ImportLine[RuleRow]
Read = tuple[int, str, Rule | Invalid]


@dataclass(slots=True)
class Surroundings:
    """What the shop has when a table is previewed: rules by normalised term, names of products by SKU, and the paths
    that lead nowhere, each with the reason."""

    rules: Mapping[str, Rule]
    names: Mapping[str, str] = field(default_factory=dict)
    nowhere: Mapping[str, str] = field(default_factory=dict)


def stored_rules(site_id: int) -> list[Rule]:
    """Return the rules of a site, by their terms."""
    query = select(SearchRule).where(SearchRule.site_id == site_id).order_by(SearchRule.normalized_term)
    return [row.value for row in db.session.scalars(query)]


def preview(site_id: int, text: str) -> ImportReport[RuleRow]:
    """Preview an import; nothing is written. Raises Invalid."""
    around = Surroundings({rule.normalized_term: rule for rule in stored_rules(site_id)})
    lines = [_read(around, number, cells) for number, cells in read_table(text)]
    rules = [rule for _, _, rule in lines if isinstance(rule, Rule)]
    around.names = _names(site_id, sorted({sku for rule in rules for sku in rule.skus}))
    around.nowhere = leading_nowhere(site_id, (path for rule in rules for path in rule.paths))
    return planned(around, lines)


def _read(around: Surroundings, number: int, cells: Cells) -> Read:
    text = ", ".join(cell for cell in cells.values() if cell)
    try:
        return number, text, read_rule(cells, around.rules.get(normalized_term(cells.get("term", ""))))
    except Invalid as invalid:
        return number, text, invalid


def planned(around: Surroundings, lines: Iterable[Read]) -> ImportReport[RuleRow]:
    """Return the report of what each line does to the rules, as the lines before it leave them. Rules that no line
    names stay."""
    seen: dict[str, int] = {}
    room = MOST_RULES - len(around.rules)
    found: list[Line] = []
    for number, text, read in lines:
        line = _planned(around, number, text, read, seen, room)
        room -= line.outcome is RowOutcome.ADDED
        found.append(line)
    return ImportReport(found)


def _planned(
    around: Surroundings, number: int, text: str, read: Rule | Invalid, seen: dict[str, int], room: int
) -> Line:
    try:
        clean = _checked(around, read, seen, room)
    except Invalid as invalid:
        return refused(number, text, invalid)
    seen[clean.normalized_term] = number
    stored = around.rules.get(clean.normalized_term)
    if stored is None:
        return ImportLine(number, text, RowOutcome.ADDED, RuleRow(clean))
    made = RuleRow(replace(clean, id=stored.id))
    if clean.as_json() == stored.as_json():
        return ImportLine(number, text, RowOutcome.SAME, made)
    return ImportLine(number, text, RowOutcome.CHANGED, made, RuleRow(stored))


def _checked(around: Surroundings, read: Rule | Invalid, seen: Mapping[str, int], room: int) -> Rule:
    """Return the rule as it can be stored. Raises Invalid."""
    if isinstance(read, Invalid):
        raise read
    clean = tidy(read)
    if clean.normalized_term in seen:
        raise Invalid.one("duplicate_term", f"Line {seen[clean.normalized_term]} is about the same search.")
    stored = around.rules.get(clean.normalized_term)
    if stored is not None and clean.as_json() == stored.as_json():
        return clean  # Its pages may be gone by now: the list of rules warns of that.
    clean = check(clean, around.names, problems_of_targets(clean, around.nowhere))
    if stored is None and room < 1:
        raise Invalid.one("too_many", f"A shop has at most {MOST_RULES:,} rules.")
    return clean


def apply(author: Author, text: str, digest: str) -> ImportReport[RuleRow]:
    """Apply the changes that the preview with this digest showed; refused lines are left out. Raises Invalid, and
    Conflict where the rules or what they name have changed since."""
    configuration.raise_version(author.site_id)  # Locks the rules of the site until the commit.
    report = preview(author.site_id, text)
    if report.digest != digest:
        raise Conflict(CHANGED)
    for line in report.lines:
        if line.made is None or line.outcome is RowOutcome.SAME:
            continue
        if line.made.rule.id is None:
            add_checked(author, line.made.rule)
        else:
            change_checked(author, rule_of(author.site_id, line.made.rule.id, to_change=True), line.made.rule)
    return report


def _names(site_id: int, skus: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for start in range(0, len(skus), AT_ONCE):
        query = select(Product.sku, Product.name).where(Product.site_id == site_id)
        found |= {
            sku: name for sku, name in db.session.execute(query.where(Product.sku.in_(skus[start : start + AT_ONCE])))
        }
    return found
