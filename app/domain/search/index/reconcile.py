"""Compares the live indexes with the database and repairs what differs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from app.domain.search.context import SearchContext
from app.domain.search.engine import Delete, EngineState, IndexName, SearchEngine, SearchUnavailable
from app.domain.search.index import backlog, outbox
from app.domain.search.index.apply import apply_waiting
from app.domain.search.index.changes import Record, document_id, documents_of, record_of
from app.domain.search.index.first_index import was_built
from app.domain.search.index.healing import CONTENTS, is_wanted
from app.domain.search.models import ReconcileReport
from app.domain.sites import versioning
from app.domain.work.context import read_afresh
from app.extensions import db

EXAMPLES = 10
MISSING, EXTRA, STALE = "missing", "extra", "stale"


@dataclass(frozen=True)
class Drift:
    """Ids of documents that the index misses, has too many, or holds in an old state."""

    missing: set[str] = field(default_factory=set)
    extra: set[str] = field(default_factory=set)
    stale: set[str] = field(default_factory=set)

    def __or__(self, other: Drift) -> Drift:
        return Drift(self.missing | other.missing, self.extra | other.extra, self.stale | other.stale)

    def by_cause(self) -> Mapping[str, set[str]]:
        return {MISSING: self.missing, EXTRA: self.extra, STALE: self.stale}

    def ids(self) -> set[str]:
        return self.missing | self.extra | self.stale

    def among(self, ids: set[str]) -> Drift:
        return Drift(self.missing & ids, self.extra & ids, self.stale & ids)


def reconcile(context: SearchContext, site_id: int) -> ReconcileReport | None:
    """Compare the indexes with the records and repair them. Return the report; None for a site whose indexes were never
    built. Repairs go through the outbox, so they bring the records' state at that moment and revert no save; a second
    run finds nothing. Checksums are compared first. Raises SearchUnavailable for an index that is damaged or lost, once
    the others are reconciled."""
    read_afresh()
    readable, unreadable = _verified(context.engine, site_id)
    report = _reconciled(context, site_id, readable) if readable else None
    if unreadable:
        raise SearchUnavailable(" ".join(unreadable))
    return report


def _verified(engine: SearchEngine, site_id: int) -> tuple[list[IndexName], list[str]]:
    """Return the indexes that can be compared, and a sentence for each that was built and cannot be read."""
    readable: list[IndexName] = []
    unreadable: list[str] = []
    for index in IndexName:
        if not is_wanted(site_id, index) or engine.status(site_id, index).state is EngineState.NOT_SET_UP:
            continue
        try:
            engine.verify(site_id, index)
            readable.append(index)
        except SearchUnavailable as error:
            if was_built(site_id, index):
                unreadable.append(f"The index of {CONTENTS[index]} could not be compared. {error.message}")
    return readable, unreadable


def _reconciled(context: SearchContext, site_id: int, indexes: Iterable[IndexName]) -> ReconcileReport:
    apply_waiting(context, site_id)
    drift = Drift()
    for index in indexes:
        drift |= _drift(context, site_id, index)
    report = context.commit(lambda: _report(context, site_id, drift))
    apply_waiting(context, site_id)
    return report


def _drift(context: SearchContext, site_id: int, index: IndexName) -> Drift:
    """Return the drift of an index. It is compared while changes are applied and, only where something differs, once
    more within the publish lock, so that a save in between is no drift. Documents that are no record's are deleted."""
    suspects = _compare(context, site_id, index).ids()
    if not suspects:
        return Drift()
    with context.engine.exclusive(site_id, index):
        read_afresh()
        on_their_way = {document_id(*entry.record) for entry in backlog.all_of(site_id, index)}
        records = {record for id in suspects if (record := record_of(id))}
        drift = _compare(context, site_id, index, suspects, records).among(suspects - on_their_way)
        strangers = [Delete(id) for id in drift.extra if record_of(id) is None]
        if strangers:
            context.engine.apply(site_id, index, strangers)
            context.commit(lambda: versioning.index_changed(db.session(), site_id))
    return drift


def _compare(
    context: SearchContext,
    site_id: int,
    index: IndexName,
    ids: set[str] | None = None,
    records: set[Record] | None = None,
) -> Drift:
    """Return the differences between an index and the records: of all documents, or only of those of `ids`, which are
    the documents of `records`."""
    indexed = {id: digest for id, digest in context.engine.digests(site_id, index) if ids is None or id in ids}
    read_afresh()
    drift = Drift()
    for document in documents_of(site_id, index, records, refuse=_ignore):
        digest = indexed.pop(document.id, None)
        if digest is None:
            drift.missing.add(document.id)
        elif digest != document.digest:
            drift.stale.add(document.id)
    drift.extra.update(indexed)
    return drift


def _ignore(_kind: str, _record_id: int, _error: Exception) -> None:
    """Do nothing: the applier sets aside a record without a document, with its error."""


def _report(context: SearchContext, site_id: int, drift: Drift) -> ReconcileReport:
    """Store the report of the drift that was found, and the entries that repair it, in one transaction."""
    _ask_for_repair(site_id, drift.ids())
    report = ReconcileReport(
        site_id=site_id,
        at=context.clock.now(),
        missing=len(drift.missing),
        extra=len(drift.extra),
        stale=len(drift.stale),
        examples={cause: sorted(ids)[:EXAMPLES] for cause, ids in drift.by_cause().items() if ids},
    )
    db.session.add(report)
    return report


def _ask_for_repair(site_id: int, ids: Iterable[str]) -> None:
    records = {record for id in ids if (record := record_of(id))}
    for kind in sorted({kind for kind, _ in records}):
        outbox.enqueue(db.session, site_id, kind, [record_id for named, record_id in records if named == kind])
