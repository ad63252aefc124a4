"""The journal: every event that moves money or stock at a till, in one chain per site that shows what was changed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import Row, select, update

from app.domain.pos.journal_chain import FIRST_PREVIOUS_HASH, ChainedEntry
from app.domain.pos.models import PosJournalEntry, PosJournalHead
from app.domain.shared.clock import Clock, rfc3339
from app.domain.shared.records import upsert
from app.extensions import db

LATE_FROM = timedelta(minutes=5)


class EntryType(StrEnum):
    """What an entry is about."""

    SALE = "SALE"
    REFUND = "REFUND"
    VOID = "VOID"
    PAY_IN = "PAY_IN"
    PAY_OUT = "PAY_OUT"
    DROP = "DROP"
    Z_REPORT = "Z_REPORT"


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
    stored = PosJournalEntry(site_id=site_id, hash=entry.hash, **asdict(entry))
    db.session.add(stored)
    db.session.execute(update(PosJournalHead).where(PosJournalHead.site_id == site_id).values(hash=stored.hash))
    db.session.flush()
    return stored


def head_of(site_id: int) -> str:
    """Return the hash of the latest entry, in hex; 64 zeros for an empty journal."""
    found = db.session.scalar(select(PosJournalHead.hash).where(PosJournalHead.site_id == site_id))
    return found or FIRST_PREVIOUS_HASH


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
