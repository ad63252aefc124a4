"""Search rules as a table, one a line, and its import: a preview of what each line does, then its application.

Products stand as `SKU`, or as `position:SKU` for pins, separated by semicolons, and so do levels, as ids or as paths.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from app.domain.relevance.rule_definition import (
    MOST_RULES,
    KnownNames,
    check_rule,
    describe_searches,
    rule_effects,
)
from app.domain.relevance.rules import (
    add_checked,
    change_checked,
    known_names,
    missing_page_problems,
    missing_pages,
    product_names,
    rule_of,
    stored_rules,
)
from app.domain.search.serving import configuration
from app.domain.search.serving.rules import RULE, Rule, normalized_term
from app.domain.search.serving.term_index import Match
from app.domain.shared.author import Author
from app.domain.shared.csv_tables import ImportLine, ImportReport, RowOutcome, check_cells, read_named, refused
from app.domain.shared.problems import Conflict, Invalid
from app.domain.shared.record_fields import Cells, fields_of
from app.domain.shared.text import one_line
from app.domain.taxonomy.level_paths import LevelPaths
from app.domain.taxonomy.taxonomies import active_tree

NAMES = Rule.columns()
COLUMNS = {name.casefold(): name for name in NAMES}
RuleKey = tuple[Match, str]
ReadLine = tuple[int, str, Rule | Invalid]  # Number and text of a line, and its rule or what is wrong with it.


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A rule as the page of an import shows it."""

    rule: Rule

    def __str__(self) -> str:
        named = self.rule.term if self.rule.match is Match.EXACT else describe_searches(self.rule)
        return f"{named}: {', '.join(rule_effects(self.rule)) or 'no effect'}"


def table_rows(rules: Iterable[Rule]) -> Iterator[Sequence[str]]:
    yield NAMES
    yield from (rule.cells() for rule in rules)


def read_table(text: str) -> list[tuple[int, Cells]]:
    """Return the number and the cells, by column, of each line. Raises Invalid for a text that is no table of rules."""
    return [*read_named(text, COLUMNS, ("term",), "rules", MOST_RULES)]


def read_rule(cells: Cells, stored: Rule | None = None) -> Rule:
    """Return the rule of a line; fields without a column stay as in `stored`. Raises Invalid."""
    check_cells(cells)
    sent = stored.as_json() if stored else {}
    for declared in fields_of(Rule):
        declared.read_cells(cells, sent)
    return Rule.of_json(RULE.load(sent))


def _key_of(rule: Rule) -> RuleKey:
    return rule.match, rule.normalized_term


def _key_in(cells: Cells) -> RuleKey:
    """Return the key of a line's rule; one whose kind of match is unknown is refused when it is read."""
    match = one_line(cells.get("match", ""))
    return Match(match) if match in set(Match) else Match.EXACT, normalized_term(cells.get("term", ""))


@dataclass(slots=True)
class ShopState:
    """What the shop has when a table is previewed: rules by their keys, the names of what they name, and the paths that
    lead nowhere, each with the reason."""

    rules: Mapping[RuleKey, Rule]
    names: KnownNames = field(default_factory=KnownNames)
    nowhere: Mapping[str, str] = field(default_factory=dict)


def preview(site_id: int, text: str) -> ImportReport[RuleRow]:
    """Preview an import; nothing is written. Raises Invalid."""
    shop = ShopState({_key_of(rule): rule for rule in stored_rules(site_id)})
    paths = LevelPaths.of(active_tree(site_id))
    lines: list[ReadLine] = []
    for number, cells in read_table(text):
        line = ", ".join(cell for cell in cells.values() if cell)
        try:
            rule = read_rule(cells, shop.rules.get(_key_in(cells)))
            lines.append((number, line, replace(rule, levels=tuple(map(paths.find, rule.levels)))))
        except Invalid as invalid:
            lines.append((number, line, invalid))
    rules = [rule for _, _, rule in lines if isinstance(rule, Rule)]
    shop.names = known_names(site_id, rules, product_names(site_id, {sku for rule in rules for sku in rule.skus}))
    shop.nowhere = missing_pages(site_id, (path for rule in rules for path in rule.paths))
    return plan_import(shop, lines)


def plan_import(shop: ShopState, lines: Iterable[ReadLine]) -> ImportReport[RuleRow]:
    """Return the report of what each line does to the rules, as the lines before it leave them. Rules that no line
    names stay."""
    seen: dict[RuleKey, int] = {}
    room = MOST_RULES - len(shop.rules)
    planned: list[ImportLine[RuleRow]] = []
    for number, text, read in lines:
        try:
            line = _plan_line(shop, number, text, read, seen, room)
        except Invalid as invalid:
            line = refused(number, text, invalid)
        room -= line.outcome is RowOutcome.ADDED
        planned.append(line)
    return ImportReport(planned)


def _plan_line(
    shop: ShopState, number: int, text: str, read: Rule | Invalid, seen: dict[RuleKey, int], room: int
) -> ImportLine[RuleRow]:
    """Return what a line does, and add its search to those `seen`. Raises Invalid."""
    if isinstance(read, Invalid):
        raise read
    clean = read.tidied()
    key = _key_of(clean)
    if key in seen:
        raise Invalid.one("duplicate_term", f"Line {seen[key]} is about the same search.")
    stored = shop.rules.get(key)
    if stored is None or clean.as_json() != stored.as_json():  # Else its pages may be gone: the list warns of that.
        clean = check_rule(clean, shop.names, missing_page_problems(clean, shop.nowhere))
    if stored is None and room < 1:
        raise Invalid.one("too_many", f"A shop has at most {MOST_RULES:,} rules.")
    seen[key] = number
    if stored is None:
        return ImportLine(number, text, RowOutcome.ADDED, RuleRow(clean))
    made = RuleRow(replace(clean, id=stored.id))
    if clean.as_json() == stored.as_json():
        return ImportLine(number, text, RowOutcome.SAME, made)
    return ImportLine(number, text, RowOutcome.CHANGED, made, RuleRow(stored))


def apply(author: Author, text: str, digest: str) -> ImportReport[RuleRow]:
    """Apply the changes that the preview with this digest showed; refused lines are left out. Raises Invalid, and
    Conflict where the rules or what they name have changed since."""
    configuration.raise_version(author.site_id)  # Locks the rules of the site until the commit.
    report = preview(author.site_id, text)
    if report.digest != digest:
        raise Conflict("The rules changed since you looked. Look at what the file does now, then import it.")
    for line in report.lines:
        if line.made is None or line.outcome is RowOutcome.SAME:
            continue
        if line.made.rule.id is None:
            add_checked(author, line.made.rule)
        else:
            change_checked(author, rule_of(author.site_id, line.made.rule.id, to_change=True), line.made.rule)
    return report
