"""The golden searches of a bundle, each matched by its words and product."""

from __future__ import annotations

from typing import Any

from app.domain.bundles.products.known import ids_by_sku
from app.domain.bundles.task import ImportTask
from app.domain.relevance import golden
from app.domain.relevance.golden import USUAL, Expectation
from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.schema import Record, Text, Whole

FILE = "goldens.json"
KIND = "golden searches"
GOLDEN = Record(query=Text(required=True), sku=Text(required=True), within=Whole())


def import_goldens(task: ImportTask) -> None:
    """Import the golden searches, after the products, which they name by SKU."""
    document = task.documents.get(FILE)
    if document is None:
        return
    counts = task.report.of(KIND)
    seen: set[tuple[str, str]] = set()
    with task.writing():
        for index, raw in enumerate(document.content):
            try:
                sent = _read(raw, seen)
                counts.note(_take(task, sent), str(sent))
            except Invalid as refused:
                task.refuse(KIND, document, [_at(index, problem) for problem in refused.problems])


def _read(raw: Any, seen: set[tuple[str, str]]) -> Expectation:
    """Return the golden search of a row. Raises Invalid."""
    fields = GOLDEN.load(raw)
    sent = Expectation(fields["query"], fields["sku"], fields.get("within", USUAL))
    key = golden.key_of(sent)
    if key in seen:
        raise Invalid.one("duplicate", f"A golden search for {sent} stands in the file twice.", "#/query")
    seen.add(key)
    return sent


def _take(task: ImportTask, sent: Expectation) -> str:
    stored = golden.similar_golden(task.site_id, sent)
    if stored is None:
        is_known = sent.sku.strip() in ids_by_sku(task, [sent.sku.strip()])
        clean = golden.check_new(task.site_id, sent, is_known)
        if not task.dry_run:
            golden.add(task.author, clean)
        return "added"
    if stored.within == sent.within:
        return "unchanged"
    if not task.dry_run:
        wanted = Expectation(stored.query, stored.sku, sent.within)
        golden.change(task.author, stored.id, stored.revision, wanted)
    return "changed"


def _at(index: int, problem: Problem) -> Problem:
    return Problem(problem.code, problem.message, f"#/{index}{problem.pointer.removeprefix('#')}")
