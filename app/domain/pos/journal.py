"""The journal: every event that moves money or stock at a till, in one chain per site that shows what was changed; its
verification, its export and its pages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import Row, func, select, update

from app.domain.pos import journal_mails
from app.domain.pos.journal_chain import (
    FIRST_PREVIOUS_HASH,
    Break,
    ChainedEntry,
    Fault,
    Link,
    StoredEntry,
    break_at_head,
    entry_json,
    follow,
    hash_of,
)
from app.domain.pos.journal_models import PosJournalEntry, PosJournalHead
from app.domain.pos.models import PosSession
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock, rfc3339
from app.domain.shared.paging import Paged
from app.domain.shared.records import upsert
from app.domain.sites import activity
from app.extensions import db

ACTOR = "journal"  # Who requests the mails after Z reports.
LATE_FROM = timedelta(minutes=5)
PAGE_SIZE = 50
FETCHED_AT_ONCE = 1_000
PART = 5_000  # Entries, verified in a tenth of a second.
E = PosJournalEntry
COLUMNS: tuple[Any, ...] = (
    E.sequence,
    E.type,
    E.at,
    E.session_id,
    E.transaction_id,
    E.order_number,
    E.amount,
    E.tender_type,
    E.late,
    E.previous_hash,
    E.hash,
)


class EntryType(StrEnum):
    """What an entry is about; `label` is for people."""

    SALE = "SALE"
    REFUND = "REFUND"
    VOID = "VOID"
    PAY_IN = "PAY_IN"
    PAY_OUT = "PAY_OUT"
    DROP = "DROP"
    Z_REPORT = "Z_REPORT"

    @property
    def label(self) -> str:
        return self.value.replace("_", " ").capitalize()


@dataclass(frozen=True, slots=True)
class MoneyEvent:
    """What moved money or stock. `amount` in minor units, signed as the drawer or the account sees it, None for a Z
    report. `tender_type` is CARD or CASH, None where there is none."""

    type: EntryType
    at: datetime
    session_id: str | None = None
    transaction_id: str | None = None
    order_number: str | None = None
    amount: int | None = None
    tender_type: str | None = None


def append(clock: Clock, site_id: int, event: MoneyEvent) -> PosJournalEntry:
    """Append an event to the site's journal. Call it in the transaction of the event, as its last step: the journal is
    locked until the commit."""
    head = _next_of_chain(site_id)
    entry = ChainedEntry(
        sequence=head.sequence,
        type=event.type.value,
        at=rfc3339(event.at),
        session_id=event.session_id,
        transaction_id=event.transaction_id,
        order_number=event.order_number,
        amount=event.amount,
        tender_type=event.tender_type,
        late=clock.now() - event.at >= LATE_FROM,
        previous_hash=head.hash,
    )
    stored = PosJournalEntry(site_id=site_id, hash=hash_of(entry), **asdict(entry))
    db.session.add(stored)
    db.session.execute(update(PosJournalHead).where(PosJournalHead.site_id == site_id).values(hash=stored.hash))
    db.session.flush()
    if event.type is EntryType.Z_REPORT:
        journal_mails.request_mail(Author(site_id, ACTOR, clock), stored)
    return stored


def head_of(site_id: int) -> str:
    """Return the hash of the latest entry, in hex; 64 zeros for an empty journal."""
    found = db.session.scalar(select(PosJournalHead.hash).where(PosJournalHead.site_id == site_id))
    return found or FIRST_PREVIOUS_HASH


@dataclass(frozen=True, slots=True)
class Verification:
    """How far a journal was verified. The entries up to `last` are whole; `total` is the sequence of the head, `head`
    its hash. `broken` is the first place that is not whole. `has_expected_head`: an entry has the hash that was to be
    found, or none was given."""

    last: Link
    total: int
    head: str
    broken: Break | None = None
    has_expected_head: bool = True

    @property
    def is_finished(self) -> bool:
        return self.broken is not None or self.last.sequence >= self.total

    @property
    def is_whole(self) -> bool:
        return self.is_finished and self.broken is None and self.has_expected_head


def verify(site_id: int, expected_head: str | None = None) -> Verification:
    """Verify a whole journal, in constant memory. `expected_head` is a hash that some entry must have, as one that a Z
    report names: it shows that the end was removed where the stored head was changed as well."""
    found = expected_head in (None, FIRST_PREVIOUS_HASH)
    last = Link()
    while True:
        part = verify_part(site_id, last, expected_head=expected_head)
        found, last = found or part.has_expected_head, part.last
        if part.is_finished:
            return Verification(last, part.total, part.head, part.broken, found)


def verify_part(site_id: int, after: Link, most: int = PART, expected_head: str | None = None) -> Verification:
    """Verify the entries after a place that is known to be whole, `most` of them at a time. The head is read before
    the entries, so that what is appended meanwhile is not missed in them."""
    head, newest = _stored_head(site_id)
    until = min(head.sequence, after.sequence + most)
    last, found = after, expected_head is None
    for place in follow(after, _entries(site_id, after.sequence, until)):
        if isinstance(place, Break):
            return Verification(last, head.sequence, head.hash, place, found)
        last, found = place, found or place.hash == expected_head
    broken = break_at_head(last, head, newest) if last.sequence < until or until == head.sequence else None
    if broken is None and until == head.sequence and not _has_entries_of_z_reports(site_id):
        broken = Break(head.sequence + 1, Fault.Z_REPORT_REMOVED)
    return Verification(last, head.sequence, head.hash, broken, found)


def place_at(site_id: int, sequence: int) -> Link:
    """Return the place of an entry, to verify what follows it; the first one where there is no such entry."""
    stored = db.session.scalar(select(E.hash).where(E.site_id == site_id, E.sequence == sequence))
    return Link() if stored is None else Link(sequence, stored)


def export_lines(site_id: int) -> Iterator[str]:
    """Yield the entries as lines of JSON, the oldest first, as they are stored, be they whole or not."""
    for stored in _entries(site_id):
        yield json.dumps(entry_json(stored.entry) | {"hash": stored.hash}, ensure_ascii=False) + "\n"


def note_export(author: Author) -> None:
    """Record the export in the activity log. Call it in a transaction."""
    activity.record(author, "pos.journal_export", ("pos_journal", "journal"), "Exported the journal of the till")


def journal_page(site_id: int, page_number: int) -> Paged[PosJournalEntry]:
    """Return a page of the entries, the latest first."""
    of_site = E.site_id == site_id
    total = db.session.scalar(select(func.count()).select_from(E).where(of_site)) or 0
    query = select(E).where(of_site).order_by(E.sequence.desc())
    rows = db.session.scalars(query.limit(PAGE_SIZE).offset((page_number - 1) * PAGE_SIZE)).all()
    return Paged(rows, page_number, PAGE_SIZE, total)


def _stored_head(site_id: int) -> tuple[Link, int]:
    """Return the head and the largest sequence of an entry, as they are at one moment."""
    newest = select(func.coalesce(func.max(E.sequence), 0)).where(E.site_id == site_id).scalar_subquery()
    head = select(PosJournalHead.sequence).where(PosJournalHead.site_id == site_id).scalar_subquery()
    hash_ = select(PosJournalHead.hash).where(PosJournalHead.site_id == site_id).scalar_subquery()
    sequence, hash_of_head, largest = db.session.execute(select(head, hash_, newest)).one()
    return (Link() if sequence is None else Link(sequence, hash_of_head)), largest


def _has_entries_of_z_reports(site_id: int) -> bool:
    """Whether the journal has every entry that a stored Z report names."""
    named = select(E.sequence).where(E.site_id == site_id, E.hash == PosSession.journal_head)
    lost = select(PosSession.id).where(PosSession.site_id == site_id, PosSession.journal_head.is_not(None))
    return db.session.scalar(lost.where(~named.exists()).limit(1)) is None


def _entries(site_id: int, after: int = 0, until: int | None = None) -> Iterator[StoredEntry]:
    """Yield the entries, also those that were inserted before the first one unless `after` is a later place."""
    query = select(*COLUMNS).where(E.site_id == site_id).order_by(E.sequence).limit(FETCHED_AT_ONCE)
    if until is not None:
        query = query.where(E.sequence <= until)
    rows = db.session.execute(query.where(E.sequence > after) if after else query).all()
    while rows:
        for *fields, stored_hash in rows:
            yield StoredEntry(ChainedEntry(*fields), stored_hash)
        rows = db.session.execute(query.where(E.sequence > rows[-1].sequence)).all()


def _next_of_chain(site_id: int) -> Row[int, str]:
    """Return the sequence of the next entry and the hash of the one before. The head's row is locked until the
    transaction ends, which gives the sequence back if it fails."""
    of_site = update(PosJournalHead).where(PosJournalHead.site_id == site_id)
    raised = of_site.values(sequence=PosJournalHead.sequence + 1).returning(
        PosJournalHead.sequence, PosJournalHead.hash
    )
    head = db.session.execute(raised).one_or_none()
    if head is None:
        empty = upsert(PosJournalHead).values(site_id=site_id, sequence=0, hash=FIRST_PREVIOUS_HASH)
        db.session.execute(empty.on_conflict_do_nothing())
        head = db.session.execute(raised).one()
    return head
