"""The search rules of a bundle, each matched by its term."""

from __future__ import annotations

from typing import Any

from app.domain.bundles.products.known import ids_by_sku
from app.domain.bundles.reading import Document
from app.domain.bundles.task import ImportTask
from app.domain.relevance import rules
from app.domain.relevance.models import SearchRule
from app.domain.search.serving.rules import RULE, Rule, normalized_term
from app.domain.shared.problems import Invalid, Problem

FILE = "rules.json"
KIND = "rules"
OF_A_SITE = {"normalizedTerm", "synced", "revision", "updatedBy", "updatedAt"}  # Set by each site itself, and ignored.


def import_rules(task: ImportTask) -> None:
    """Import the rules, after the products, which they name by SKU. A rule with an unknown SKU is left out whole: half
    of it would do something unintended."""
    document = task.documents.get(FILE)
    if document is None:
        return
    task.report.of(KIND)
    places: dict[str, int] = {}
    with task.writing():
        for index, raw in enumerate(document.content):
            try:
                _take(task, *_read(task, raw, document, index, places))
            except Invalid as refused:
                task.refuse(KIND, document, _at(index, refused))


def _read(
    task: ImportTask, raw: Any, document: Document, index: int, places: dict[str, int]
) -> tuple[Rule, SearchRule | None]:
    """Return the rule of the file, checked, and the site's rule for the same search, which keeps the fields that the
    file leaves out. Raises Invalid."""
    fields = {name: value for name, value in raw.items() if name not in OF_A_SITE} if isinstance(raw, dict) else raw
    term = fields.get("term") if isinstance(fields, dict) else None
    stored = rules.rule_for(task.site_id, term) if isinstance(term, str) else None
    if stored is not None:
        fields = stored.value.as_json() | fields
    rule = Rule.of_json(RULE.load(fields))
    known = dict.fromkeys(ids_by_sku(task, list(dict.fromkeys(rule.skus))), "")
    clean = rules.check_for_site(task.site_id, rule, stored, may_lead_nowhere=True, known_skus=known)
    first = places.setdefault(normalized_term(clean.term), index)
    if first != index:
        line = document.line_of(f"#/{first}")
        raise Invalid.one("duplicate_term", f"A rule for “{clean.term}” is already on line {line}.", "#/term")
    return clean, stored


def _take(task: ImportTask, clean: Rule, stored: SearchRule | None) -> None:
    counts = task.report.of(KIND)
    if stored is None:
        counts.note("added", clean.term)
        if not task.dry_run:
            rules.add_checked(task.author, clean)
    elif clean.as_json() == stored.value.as_json():
        counts.note("unchanged", clean.term)
    else:
        counts.note("changed", clean.term)
        if not task.dry_run:
            rules.change_checked(task.author, rules.rule_of(task.site_id, stored.id, to_change=True), clean)


def _at(index: int, refused: Invalid) -> list[Problem]:
    return [
        Problem(problem.code, problem.message, f"#/{index}{problem.pointer.removeprefix('#')}")
        for problem in refused.problems
    ]
