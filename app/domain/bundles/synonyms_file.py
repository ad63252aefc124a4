"""The synonyms of a bundle: live ones, suggestions that wait, and rejected ones, which must not come back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from app.domain.bundles.reading import Document
from app.domain.bundles.task import ImportTask
from app.domain.relevance.models import Synonym
from app.domain.relevance.synonym_definition import (
    AI,
    LIVE,
    MANUAL,
    MINED,
    REJECTED,
    SUGGESTED,
    TakenWords,
    check_synonym,
    fingerprint,
)
from app.domain.relevance.synonym_import import TableLine, plan_import
from app.domain.relevance.synonyms import add_checked, change_checked, live_groups, synonym_of
from app.domain.search.serving import configuration
from app.domain.search.serving.synonyms import SYNONYM, SynonymGroup
from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.schema import Choice, Flag, Object, Record, Text, Whole
from app.domain.shared.table_import import ImportLine, ImportReport, RowOutcome
from app.extensions import db

FILE = "synonyms.json"
KIND = "synonyms"
RECORD = Record(
    **SYNONYM.fields,
    status=Choice((LIVE, SUGGESTED, REJECTED)),
    source=Choice((MANUAL, AI, MINED)),
    evidence=Object(allow_none=True),
    # Given by a site, and ignored.
    synced=Flag(),
    revision=Whole(),
    updatedBy=Text(),
    updatedAt=Text(),
)


OUTCOMES = {RowOutcome.ADDED: "added", RowOutcome.CHANGED: "changed", RowOutcome.SAME: "unchanged"}


@dataclass(frozen=True, slots=True)
class _Sent:
    """A synonym of the file; `index` is its place in it."""

    index: int
    group: SynonymGroup
    status: str
    source: str
    evidence: dict[str, Any] | None


def import_synonyms(task: ImportTask) -> None:
    """Import the synonyms. A live one with the words, or the root, of a live one of the site changes that one. One that
    is not live is added only where the site has no equal one in any state."""
    document = task.documents.get(FILE)
    if document is None:
        return
    task.report.of(KIND)
    sent = list(_sent(task, document))
    live = {one.index: one for one in sent if one.status == LIVE}
    with task.writing():
        _take_live(task, document, live)
        for one in sent:
            if one.status != LIVE:
                _take_undecided(task, document, one)


def _sent(task: ImportTask, document: Document) -> Iterator[_Sent]:
    for index, raw in enumerate(document.content):
        try:
            fields = RECORD.load(raw, f"#/{index}")
        except Invalid as refused:
            task.refuse(KIND, document, refused.problems)
            continue
        status, source = fields.get("status", LIVE), fields.get("source", MANUAL)
        yield _Sent(index, SynonymGroup.of_json(fields), status, source, fields.get("evidence") or None)


def _take_live(task: ImportTask, document: Document, live: dict[int, _Sent]) -> None:
    report, by_line = _planned(task, document, live)
    if report.changes and not task.dry_run:
        version = configuration.raise_version(task.site_id)
        report, by_line = _planned(task, document, live)  # Nobody else changes them from here on.
        for line, one in zip(report.lines, by_line, strict=True):
            _write_live(task, line, one, version)
    counts = task.report.of(KIND)
    for line, one in zip(report.lines, by_line, strict=True):
        if line.outcome in OUTCOMES:
            counts.note(OUTCOMES[line.outcome], _words(one.group))
        if line.outcome is RowOutcome.REFUSED:
            task.refuse(KIND, document, [Problem("refused", line.reason, f"#/{one.index}")])


def _planned(
    task: ImportTask, document: Document, live: dict[int, _Sent]
) -> tuple[ImportReport[SynonymGroup], list[_Sent]]:
    lines = [TableLine(document.line_of(f"#/{index}"), "", one.group) for index, one in live.items()]
    return plan_import(live_groups(task.site_id), lines), list(live.values())


def _write_live(task: ImportTask, line: ImportLine[SynonymGroup], one: _Sent, version: int) -> None:
    if line.made is not None and line.outcome is RowOutcome.ADDED:
        add_checked(task.author, line.made, version, one.source, one.evidence)
    elif line.made is not None and line.replaces is not None and line.replaces.id is not None:
        change_checked(task.author, synonym_of(task.site_id, line.replaces.id), line.made, version)


def _take_undecided(task: ImportTask, document: Document, one: _Sent) -> None:
    try:
        # What could not be live beside today's synonyms may still wait or be rejected.
        group = check_synonym(one.group, TakenWords())
    except Invalid as refused:
        places = [(problem, f"#/{one.index}{problem.pointer.removeprefix('#')}") for problem in refused.problems]
        task.refuse(KIND, document, [Problem(problem.code, problem.message, at) for problem, at in places])
        return
    written = fingerprint(group)
    query = select(Synonym.id).where(Synonym.site_id == task.site_id, Synonym.fingerprint == written)
    if db.session.scalar(query) is not None:
        task.report.of(KIND).note("unchanged", "")
        return
    task.report.of(KIND).note("added", _words(group))
    if not task.dry_run:
        _add_undecided(task, group, one)


def _words(group: SynonymGroup) -> str:
    return ", ".join(group.words)


def _add_undecided(task: ImportTask, group: SynonymGroup, one: _Sent) -> None:
    now = task.clock.now()
    synonym = Synonym(site_id=task.site_id, status=one.status, source=one.source, evidence=one.evidence)
    synonym.write(group)
    synonym.revision, synonym.words_version = 1, 0
    synonym.created_at = synonym.updated_at = now
    synonym.updated_by = task.importer.name[:100]
    db.session.add(synonym)
    db.session.flush()
