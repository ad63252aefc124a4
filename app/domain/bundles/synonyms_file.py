"""The synonyms of a bundle: live ones, suggestions that wait, and rejected ones, which must not come back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from app.domain.bundles.reading import Document
from app.domain.bundles.task import ImportTask
from app.domain.search.live import publishing
from app.domain.search.live.models import Synonym
from app.domain.search.live.served import SynonymGroup, SynonymType
from app.domain.search.synonyms.editing import MANUAL, add_checked, change_checked, live_groups, synonym_of, write
from app.domain.search.synonyms.group import SynonymDraft, Taken, check_draft, fingerprint
from app.domain.search.synonyms.importing import ImportLine, ImportReport, Outcome, planned
from app.domain.search.synonyms.record import LIVE, REJECTED, SUGGESTED
from app.domain.search.synonyms.table import TableLine
from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.shapes import Field, Kind, Shape, read_fields
from app.extensions import db

FILE = "synonyms.json"
KIND = "synonyms"
SYNONYM: Shape = {
    "type": Field(Kind.TEXT, required=True),
    "root": Field(Kind.TEXT, nullable=True),
    "synonyms": Field(Kind.TEXTS, required=True),
    "status": Field(Kind.TEXT),
    "source": Field(Kind.TEXT),
    "evidence": Field(Kind.OBJECT, nullable=True),
    # Given by a site, and passed over.
    "synced": Field(Kind.FLAG),
    "revision": Field(Kind.WHOLE),
    "updatedBy": Field(Kind.TEXT),
    "updatedAt": Field(Kind.TEXT),
}
CHOICES = {
    "type": tuple(kind.value for kind in SynonymType),
    "status": (LIVE, SUGGESTED, REJECTED),
    "source": (MANUAL, "AI", "MINED"),
}


@dataclass(frozen=True, slots=True)
class _Sent:
    """A synonym of the file; `index` is its place in it."""

    index: int
    draft: SynonymDraft
    status: str
    source: str
    evidence: dict[str, Any] | None


def import_synonyms(task: ImportTask) -> None:
    """A live one with the words, or the root, of a live one of the site changes that one. One that the site has in
    whatever state stays so, unless the file has it live."""
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
        problems: list[Problem] = []
        fields = read_fields(raw, SYNONYM, f"#/{index}", problems)
        for name, choices in CHOICES.items():
            if name in fields and fields[name] not in choices:
                message = f"“{fields[name][:40]}” is none of {', '.join(choices)}."
                problems.append(Problem(f"unknown_{name}", message, f"#/{index}/{name}"))
        if problems:
            task.refuse(KIND, document, problems)
            continue
        draft = SynonymDraft(SynonymType(fields["type"]), fields.get("root"), tuple(fields["synonyms"]))
        yield _Sent(
            index, draft, fields.get("status", LIVE), fields.get("source", MANUAL), fields.get("evidence") or None
        )


def _take_live(task: ImportTask, document: Document, live: dict[int, _Sent]) -> None:
    report, by_line = _planned(task, document, live)
    if report.changes and not task.dry_run:
        version = publishing.touch(task.site_id)
        report, by_line = _planned(task, document, live)  # Nobody else changes them from here on.
        for line, one in zip(report.lines, by_line, strict=True):
            _write_live(task, line, one, version)
    counts = task.report.of(KIND)
    counts.added += report.count(Outcome.ADDED)
    counts.changed += report.count(Outcome.CHANGED)
    counts.unchanged += report.count(Outcome.SAME)
    for line, one in zip(report.lines, by_line, strict=True):
        if line.outcome is Outcome.REFUSED:
            task.refuse(KIND, document, [Problem("refused", line.reason, f"#/{one.index}")])


def _planned(task: ImportTask, document: Document, live: dict[int, _Sent]) -> tuple[ImportReport, list[_Sent]]:
    lines = [TableLine(document.line_of(f"#/{index}"), "", one.draft) for index, one in live.items()]
    return planned(live_groups(task.site_id), lines), list(live.values())


def _write_live(task: ImportTask, line: ImportLine, one: _Sent, version: int) -> None:
    if line.group is not None and line.outcome is Outcome.ADDED:
        add_checked(task.clock, task.site_id, line.group, version, task.actor, one.source, one.evidence)
    elif line.group is not None and line.replaces is not None and line.replaces.id is not None:
        change_checked(task.clock, synonym_of(task.site_id, line.replaces.id), line.group, version, task.actor)


def _take_undecided(task: ImportTask, document: Document, one: _Sent) -> None:
    try:
        # What could not be live beside today's synonyms may still wait or be rejected.
        group = check_draft(one.draft, Taken())
    except Invalid as refused:
        places = [(problem, f"#/{one.index}{problem.pointer.removeprefix('#')}") for problem in refused.problems]
        task.refuse(KIND, document, [Problem(problem.code, problem.message, at) for problem, at in places])
        return
    written = fingerprint(group)
    query = select(Synonym.id).where(Synonym.site_id == task.site_id, Synonym.fingerprint == written)
    if db.session.scalar(query) is not None:
        task.report.of(KIND).unchanged += 1
        return
    task.report.of(KIND).added += 1
    if not task.dry_run:
        _add_undecided(task, group, one)


def _add_undecided(task: ImportTask, group: SynonymGroup, one: _Sent) -> None:
    now = task.clock.now()
    synonym = Synonym(site_id=task.site_id, status=one.status, source=one.source, evidence=one.evidence)
    write(synonym, group)
    synonym.revision, synonym.words_version = 1, 0
    synonym.created_at = synonym.updated_at = now
    synonym.updated_by = task.actor[:100]
    db.session.add(synonym)
    db.session.flush()
