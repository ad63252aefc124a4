"""Events of the payment processor: verified, stored once each, and followed by reading the payment anew, since events
come late, twice, in any order or never. The state table is in docs/payments.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import structlog
from sqlalchemy import select

from app.domain.pos.ledger import accounts, matching
from app.domain.pos.models import PosTransaction, StoredProcessorEvent
from app.domain.pos.payments.transitions import apply_intent, payment_disputed
from app.domain.pos.processor import (
    AccountRef,
    Intent,
    IntentNotFound,
    PaymentProcessor,
    ProcessorError,
    ProcessorEvent,
    Refund,
)
from app.domain.pos.refund_states import refund_seen
from app.domain.pos.states import OPEN_STATUSES
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.upserting import upsert
from app.domain.work.context import WorkContext
from app.extensions import db

ACTOR = "payment processor"
ACTION = "event"
DISPUTE = "charge.dispute.created"
LONGEST_ERROR = 500

log = structlog.get_logger()


class EventOutcome(StrEnum):
    """The outcome of an event. WAITING is tried again by the next check."""

    APPLIED = "applied"
    DUPLICATE = "duplicate"
    UNKNOWN_ACCOUNT = "unknown_account"
    WRONG_MODE = "wrong_mode"
    NO_PAYMENT = "no_payment"
    MISMATCH = "mismatch"
    EXPIRED = "expired"
    NOT_FOUND = "not_found"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class _News:
    """A stored event and the payment that it is about. `snapshot` and `refund` are the intent and the refund in the
    event itself, None where it is followed later."""

    row_id: int
    site_id: int
    transaction_id: str
    ref: AccountRef
    intent_id: str
    refund_id: str | None = None
    snapshot: Intent | None = None
    refund: Refund | None = None


@dataclass(frozen=True, slots=True)
class _Read:
    """The processor's answer, or the error in its place."""

    intent: Intent | None = None
    refund: Refund | None = None
    error: ProcessorError | None = None


def receive(context: WorkContext, processor: PaymentProcessor, raw: bytes, headers: Mapping[str, str]) -> EventOutcome:
    """Store an event of the processor, apply it to its payment and return the outcome. Raises BadSignature, and stores
    nothing, where the processor did not sign it."""
    event = processor.parse_event(raw, headers, context.clock.now())
    stored = context.commit(lambda: _store(context.clock, processor, event))
    outcome = stored if isinstance(stored, EventOutcome) else _follow(context, stored, _read(processor, stored))
    log.info("processor_event", type=event.type, event_id=event.id, outcome=outcome.value)
    return outcome


def follow_stored(context: WorkContext, processor: PaymentProcessor, row_id: int, expired_at: datetime) -> EventOutcome:
    """Follow a stored event whose first try failed or whose process died; one received at `expired_at` or earlier ends
    as EXPIRED. Raises ProcessorError while the processor cannot be read."""
    row = db.session.get_one(StoredProcessorEvent, row_id, populate_existing=True)
    if row.received_at <= expired_at:
        return context.commit(lambda: _end(context.clock, row_id, EventOutcome.EXPIRED))
    known = _transaction_of(row.processor, row.account_id, row.intent_id, None)
    if known is None or row.intent_id is None:
        return context.commit(lambda: _end(context.clock, row_id, EventOutcome.NO_PAYMENT))
    refund_id = row.payload.get("refundId") or None
    news = _News(row.id, known.site_id, known.id, AccountRef(row.account_id), row.intent_id, refund_id)
    db.session.rollback()
    read = _read(processor, news)
    outcome = _follow(context, news, read)
    if outcome is EventOutcome.WAITING and read.error is not None:
        raise read.error
    return outcome


def _store(clock: Clock, processor: PaymentProcessor, event: ProcessorEvent) -> _News | EventOutcome:
    """Store an event; return the payment that it is about, or the outcome where there is nothing to follow."""
    known = _transaction_of(processor.name, event.account_id, event.intent_id, event.intent)
    site_id = known.site_id if known else accounts.site_of(event.account_id)
    outcome = _outcome_at_once(processor, event, known, site_id)
    values = {
        "site_id": site_id,
        "processor": processor.name,
        "event_id": event.id,
        "account_id": event.account_id,
        "type": event.type[:80],
        "intent_id": event.intent_id,
        "received_at": clock.now(),
        "processed_at": clock.now() if outcome else None,
        "outcome": outcome and outcome.value,
        "attempts": 0,
        "payload": _payload(event) if known else {},
    }
    inserted = upsert(StoredProcessorEvent).values(**values).on_conflict_do_nothing()
    row_id = db.session.scalar(inserted.returning(StoredProcessorEvent.id))
    if row_id is None:
        return EventOutcome.DUPLICATE
    if outcome or known is None or event.intent_id is None:
        return outcome or EventOutcome.NO_PAYMENT
    if event.type == DISPUTE:  # A dispute cannot be read from the processor, and each event comes here once.
        payment_disputed(Author(known.site_id, ACTOR, clock), known.id, ACTION)
    ref, refund_id = AccountRef(event.account_id), event.refund.id if event.refund else None
    return _News(row_id, known.site_id, known.id, ref, event.intent_id, refund_id, event.intent, event.refund)


def _outcome_at_once(
    processor: PaymentProcessor, event: ProcessorEvent, known: PosTransaction | None, site_id: int | None
) -> EventOutcome | None:
    """Return the outcome of an event, None for one that is to be followed."""
    if event.live != processor.live:
        outcome = EventOutcome.WRONG_MODE
    elif site_id is None and event.account_id:
        outcome = EventOutcome.UNKNOWN_ACCOUNT
    elif known is None:
        return EventOutcome.NO_PAYMENT
    else:
        return None
    log.warning("processor_event_refused", event_id=event.id, account=event.account_id, reason=outcome.value)
    return outcome


def _payload(event: ProcessorEvent) -> dict[str, object]:
    """Return the part of an event that is needed to follow it later. Nothing else is kept: events name customers, also
    of payments made elsewhere."""
    return {"refundId": event.refund.id} if event.refund else {}


def _transaction_of(
    processor: str, account_id: str, intent_id: str | None, snapshot: Intent | None
) -> PosTransaction | None:
    """Return the transaction of an intent: by its id, or by the id in its metadata where the answer to its creation has
    not come yet."""
    of_account = PosTransaction.processor == processor, PosTransaction.processor_account_id == account_id
    if intent_id is None:
        return None
    query = select(PosTransaction).where(*of_account, PosTransaction.processor_intent_id == intent_id)
    known = db.session.scalar(query)
    named = matching.transaction_id_of(snapshot) if snapshot else None
    if known is not None or named is None:
        return known
    return db.session.scalar(select(PosTransaction).where(*of_account, PosTransaction.id == named))


def _read(processor: PaymentProcessor, news: _News) -> _Read:
    try:
        intent = processor.retrieve_intent(news.ref, news.intent_id)
        refund = processor.retrieve_refund(news.ref, news.refund_id) if news.refund_id else None
    except ProcessorError as error:
        return _Read(error=error)
    return _Read(intent, refund)


def _follow(context: WorkContext, news: _News, read: _Read) -> EventOutcome:
    return context.commit(lambda: _apply(context.clock, news, read))


def _apply(clock: Clock, news: _News, read: _Read) -> EventOutcome:
    """Apply an event to its payment. What the event said itself serves only where the processor cannot be read."""
    known = db.session.get_one(PosTransaction, news.transaction_id, populate_existing=True)
    intent = read.intent or _trusted_snapshot(known, news.snapshot)
    refund = news.refund if read.error else read.refund
    if intent is None and refund is None:
        return _without_news(clock, news.row_id, read.error)
    author = Author(news.site_id, ACTOR, clock)
    if intent is not None:
        if not matching.agrees(known, intent):
            matching.note_mismatch(author, known, intent)
            return _end(clock, news.row_id, EventOutcome.MISMATCH)
        apply_intent(author, known.id, intent, ACTION)
    if refund is not None:
        refund_seen(author, known.id, refund)
    return _end(clock, news.row_id, EventOutcome.APPLIED)


def _trusted_snapshot(known: PosTransaction, snapshot: Intent | None) -> Intent | None:
    """Return the intent in the event where the payment is open, else None: a payment that was given up comes back only
    when the processor itself says so now."""
    return snapshot if known.status in OPEN_STATUSES else None


def _without_news(clock: Clock, row_id: int, error: ProcessorError | None) -> EventOutcome:
    """Count a failed try of an event, which is tried again, unless the processor says that there is no such payment or
    refund: then end it as NOT_FOUND."""
    if isinstance(error, IntentNotFound):
        return _end(clock, row_id, EventOutcome.NOT_FOUND)
    row = db.session.get_one(StoredProcessorEvent, row_id)
    row.attempts, row.error = row.attempts + 1, error.message[:LONGEST_ERROR] if error else None
    return EventOutcome.WAITING


def _end(clock: Clock, row_id: int, outcome: EventOutcome) -> EventOutcome:
    row = db.session.get_one(StoredProcessorEvent, row_id)
    row.processed_at, row.outcome, row.error = clock.now(), outcome.value, None
    return outcome
