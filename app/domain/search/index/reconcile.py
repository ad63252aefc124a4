"""Compares the live indexes with the database and repairs what differs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from app.domain.search.engine import Delete, EngineState, IndexName
from app.domain.search.index import outbox, wishes
from app.domain.search.index.apply import apply_waiting
from app.domain.search.index.changes import Record, document_id, documents_of, record_of
from app.domain.search.index.indexing import Indexing, read_afresh
from app.domain.search.index.runs import content_search_is_on
from app.domain.search.models import ReconcileReport
from app.extensions import db

EXAMPLES = 10
MISSING, EXTRA, STALE = "missing", "extra", "stale"


@dataclass(frozen=True)
class Drift:
    """Ids of documents that the index lacks, has too many, or holds in an old state."""

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


def reconcile(indexing: Indexing, site_id: int) -> ReconcileReport | None:
    """What was found and repaired; None for a site without a live index. Repairs go through the outbox, so they
    bring the records' state at that moment and revert no save; a second run finds nothing."""
    if indexing.engine.status(site_id, IndexName.PRODUCTS).state is not EngineState.HEALTHY:
        return None
    apply_waiting(indexing, site_id)
    drift = Drift()
    for index in _live_indexes(indexing, site_id):
        drift |= _drift(indexing, site_id, index)
    report = indexing.commit(lambda: _report(indexing, site_id, drift))
    apply_waiting(indexing, site_id)
    return report


def _live_indexes(indexing: Indexing, site_id: int) -> list[IndexName]:
    read_afresh()
    wanted = list(IndexName) if content_search_is_on(site_id) else [IndexName.PRODUCTS]
    return [index for index in wanted if indexing.engine.status(site_id, index).state is EngineState.HEALTHY]


def _drift(indexing: Indexing, site_id: int, index: IndexName) -> Drift:
    """Compared first beside the running shop, then, only where something differs, once more while nothing is
    applied: a save in between is no drift."""
    suspects = _compare(indexing, site_id, index).ids()
    if not suspects:
        return Drift()
    with indexing.engine.exclusive(site_id, index):
        read_afresh()
        on_their_way = {document_id(wish.kind, wish.record_id) for wish in wishes.all_of(site_id, index)}
        records = {record for id in suspects if (record := record_of(id))}
        drift = _compare(indexing, site_id, index, suspects, records).among(suspects - on_their_way)
        strangers = [Delete(id) for id in drift.extra if record_of(id) is None]
        if strangers:
            indexing.engine.apply(site_id, index, strangers)
    return drift


def _compare(
    indexing: Indexing,
    site_id: int,
    index: IndexName,
    ids: set[str] | None = None,
    records: set[Record] | None = None,
) -> Drift:
    """All documents, or only those of `ids`, which belong to `records`."""
    indexed = {id: digest for id, digest in indexing.engine.digests(site_id, index) if ids is None or id in ids}
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
    """A record without a document is set aside by the applier, which tells of it."""


def _report(indexing: Indexing, site_id: int, drift: Drift) -> ReconcileReport:
    """What was found, and the wishes that repair it, in one transaction."""
    _ask_for_repair(site_id, drift.ids())
    report = ReconcileReport(
        site_id=site_id,
        at=indexing.clock.now(),
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
