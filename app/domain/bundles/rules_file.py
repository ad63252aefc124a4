"""The search rules of a bundle, each matched by its term."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app.domain.bundles.products.known import ids_by_sku
from app.domain.bundles.reading import Document
from app.domain.bundles.task import ImportTask
from app.domain.search.live.models import SearchRule
from app.domain.search.live.served import normalized_term
from app.domain.search.rules import editing
from app.domain.search.rules.record import draft_of, draft_of_json, json_of_draft
from app.domain.search.rules.rule import RuleDraft, check
from app.domain.shared.problems import Invalid, Problem

FILE = "rules.json"
KIND = "rules"
OF_A_SITE = {"normalizedTerm", "synced", "revision", "updatedBy", "updatedAt"}  # Given by a site, and passed over.


@dataclass(frozen=True, slots=True)
class _Found:
    """A sound rule of the file, and the site's rule for the same search."""

    draft: RuleDraft
    stored: SearchRule | None

    @property
    def is_as_stored(self) -> bool:
        return self.stored is not None and json_of_draft(self.draft) == editing.record(self.stored)


def import_rules(task: ImportTask) -> None:
    """After the products, which rules name by SKU. A rule with an unknown one is left out whole: half of it would do
    something that nobody meant."""
    document = task.documents.get(FILE)
    if document is None:
        return
    task.report.of(KIND)
    places: dict[str, int] = {}
    with task.writing():
        for index, raw in enumerate(document.content):
            try:
                _take(task, _read(task, raw, document, index, places))
            except Invalid as refused:
                task.refuse(KIND, document, _at(index, refused))


def _read(task: ImportTask, raw: Any, document: Document, index: int, places: dict[str, int]) -> _Found:
    """Raises Invalid. What a rule does not say stays as it is."""
    said = {name: value for name, value in raw.items() if name not in OF_A_SITE} if isinstance(raw, dict) else raw
    term = said.get("term") if isinstance(said, dict) else None
    stored = editing.rule_for(task.site_id, term) if isinstance(term, str) else None
    if stored is not None:
        said = json_of_draft(draft_of(stored)) | said
    draft = draft_of_json(said)
    known = ids_by_sku(task, list(dict.fromkeys(draft.skus)))
    clean = check(draft, dict.fromkeys(known, ""))
    first = places.setdefault(normalized_term(clean.term), index)
    if first != index:
        line = document.line_of(f"#/{first}")
        raise Invalid.one("duplicate_term", f"A rule for “{clean.term}” stands on line {line} already.", "#/term")
    return _Found(clean, stored)


def _take(task: ImportTask, found: _Found) -> None:
    counts = task.report.of(KIND)
    if found.stored is None:
        if not task.dry_run:
            editing.add(task.clock, task.site_id, found.draft, task.actor, may_lead_nowhere=True)
        counts.added += 1
    elif found.is_as_stored:
        counts.unchanged += 1
    else:
        if not task.dry_run:
            stored, draft = found.stored, found.draft
            editing.change(
                task.clock, task.site_id, stored.id, stored.revision, draft, task.actor, may_lead_nowhere=True
            )
        counts.changed += 1


def _at(index: int, refused: Invalid) -> list[Problem]:
    return [
        Problem(problem.code, problem.message, f"#/{index}{problem.pointer.removeprefix('#')}")
        for problem in refused.problems
    ]
