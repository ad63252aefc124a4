"""Compares the live indexes with the database and repairs what differs; and the findings of the last thirty days."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Protocol

from app.domain.search.document_ids import Record, document_id, record_of
from app.domain.search.engine import Delete, EngineState, IndexName, SearchContext, SearchUnavailable
from app.domain.search.index import outbox
from app.domain.search.index.documents import documents_of, is_wanted
from app.domain.search.index.healing import CONTENTS, was_built
from app.domain.search.index.outbox import apply_waiting
from app.domain.search.models import ReconcileReport
from app.domain.sites import versioning
from app.domain.work.context import read_afresh
from app.extensions import db

DAYS = 30
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
    run finds nothing. Records that were set aside are tried again. Checksums are compared first. Raises
    SearchUnavailable for an index that is damaged or lost, once the others are reconciled."""
    read_afresh()
    readable: list[IndexName] = []
    unreadable: list[str] = []
    for index in IndexName:
        if not is_wanted(site_id, index) or context.engine.status(site_id, index).state is EngineState.NOT_SET_UP:
            continue
        try:
            context.engine.verify(site_id, index)
            readable.append(index)
        except SearchUnavailable as error:
            if was_built(site_id, index):
                unreadable.append(f"The index of {CONTENTS[index]} could not be compared. {error.message}")
    report = None
    if readable:
        context.commit(lambda: outbox.retry_set_aside(site_id, readable))
        apply_waiting(context, site_id)
        found = Drift()
        for index in readable:
            found |= _find_drift(context, site_id, index)
        report = context.commit(lambda: _store_report(context, site_id, found))
        apply_waiting(context, site_id)
    if unreadable:
        raise SearchUnavailable(" ".join(unreadable))
    return report


def _find_drift(context: SearchContext, site_id: int, index: IndexName) -> Drift:
    """Return the drift of an index. It is compared while changes are applied and, only where something differs, once
    more within the publish lock, so that a save in between is no drift. Documents that are no record's are deleted."""
    suspects = _compare(context, site_id, index).ids()
    if not suspects:
        return Drift()
    with context.engine.exclusive(site_id, index):
        read_afresh()
        on_their_way = {document_id(*entry.record) for entry in outbox.all_of(site_id, index)}
        records = {record for id in suspects if (record := record_of(id))}
        found = _compare(context, site_id, index, suspects, records).among(suspects - on_their_way)
        strangers = [Delete(id) for id in found.extra if record_of(id) is None]
        if strangers:
            context.engine.apply(site_id, index, strangers)
            context.commit(lambda: versioning.index_changed(db.session(), site_id))
    return found


def _compare(
    context: SearchContext,
    site_id: int,
    index: IndexName,
    ids: set[str] | None = None,
    records: set[Record] | None = None,
) -> Drift:
    """Return the differences between an index and the records: of all documents, or only of those of `ids`, which are
    the documents of `records`."""
    indexed = dict(context.engine.digests(site_id, index, ids))
    read_afresh()
    found = Drift()
    # A record without a document is left out: the applier sets it aside, with its error.
    for document in documents_of(site_id, index, records, refuse=lambda *_: None):
        digest = indexed.pop(document.id, None)
        if digest is None:
            found.missing.add(document.id)
        elif digest != document.digest:
            found.stale.add(document.id)
    found.extra.update(indexed)
    return found


def _store_report(context: SearchContext, site_id: int, found: Drift) -> ReconcileReport:
    """Store the report of the drift that was found, and the entries that repair it, in one transaction."""
    records = {record for id in found.ids() if (record := record_of(id))}
    for kind in sorted({kind for kind, _ in records}):
        outbox.enqueue(db.session, site_id, kind, [record_id for named, record_id in records if named == kind])
    report = ReconcileReport(
        site_id=site_id,
        at=context.clock.now(),
        missing=len(found.missing),
        extra=len(found.extra),
        stale=len(found.stale),
        examples={cause: sorted(ids)[:EXAMPLES] for cause, ids in found.by_cause().items() if ids},
    )
    db.session.add(report)
    return report


class DriftReport(Protocol):
    """The report of one comparison, as ReconcileReport has it (app/domain/search/models.py)."""

    at: datetime
    missing: int
    extra: int
    stale: int


@dataclass(frozen=True, slots=True)
class DriftDay:
    """All comparisons of a day together; `compared` is False where none was made."""

    day: date
    missing: int = 0
    extra: int = 0
    stale: int = 0
    compared: bool = False

    @property
    def total(self) -> int:
        return self.missing + self.extra + self.stale


@dataclass(frozen=True, slots=True)
class DriftHistory:
    """The days from the oldest to today, and when the last comparison was made."""

    days: tuple[DriftDay, ...]
    last_at: datetime | None

    @property
    def last(self) -> DriftDay | None:
        return next((day for day in reversed(self.days) if day.compared), None)

    @property
    def total(self) -> int:
        return sum(day.total for day in self.days)


def drift(reports: Sequence[DriftReport], today: date) -> DriftHistory:
    """Return the findings of all reports by day, over the DAYS days that end today."""
    first = today - timedelta(days=DAYS - 1)
    days = {first + timedelta(days=number): DriftDay(first + timedelta(days=number)) for number in range(DAYS)}
    for report in reports:
        day = days.get(report.at.date())
        if day is not None:
            days[day.day] = DriftDay(
                day.day,
                missing=day.missing + report.missing,
                extra=day.extra + report.extra,
                stale=day.stale + report.stale,
                compared=True,
            )
    return DriftHistory(tuple(days.values()), max((report.at for report in reports), default=None))
