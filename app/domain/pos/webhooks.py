"""Events of the payment processor: verified, stored once each, and followed by reading the payment anew, since events
come late, twice, in any order or never. The state table is in docs/payments.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import structlog
from sqlalchemy import select

from app.domain.pos.ledger import is_intent_of, note_other_intent, transaction_id_of
from app.domain.pos.locations import site_of_account
from app.domain.pos.models import PosTransaction, StoredProcessorEvent
from app.domain.pos.payments.transitions import apply_intent, mark_disputed
from app.domain.pos.processor import (
    AccountRef,
    Intent,
    IntentNotFound,
    PaymentProcessor,
    ProcessorError,
    ProcessorEvent,
    Refund,
)
from app.domain.pos.refunds import apply_reported_refund
from app.domain.pos.states import OPEN_STATUSES
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.records import upsert
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
class _EventToApply:
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
class _ProcessorAnswer:
    """The processor's answer, or the error in its place."""

    intent: Intent | None = None
    refund: Refund | None = None
    error: ProcessorError | None = None


def receive(context: WorkContext, processor: PaymentProcessor, raw: bytes, headers: Mapping[str, str]) -> EventOutcome:
    """Store an event of the processor, apply it to its payment and return the outcome. Raises BadSignature, and stores
    nothing, where the processor did not sign it."""
    event = processor.parse_event(raw, headers, context.clock.now())
    stored = context.commit(lambda: _store(context.clock, processor, event))
    if isinstance(stored, EventOutcome):
        outcome = stored
    else:
        answer = _read_processor(processor, stored)
        outcome = context.commit(lambda: _apply(context.clock, stored, answer))
    log.info("processor_event", type=event.type, event_id=event.id, outcome=outcome.value)
    return outcome


def follow_stored(context: WorkContext, processor: PaymentProcessor, row_id: int, expired_at: datetime) -> EventOutcome:
    """Follow a stored event whose first try failed or whose process died; one received at `expired_at` or earlier ends
    as EXPIRED. Raises ProcessorError while the processor cannot be read."""
    row = db.session.get_one(StoredProcessorEvent, row_id, populate_existing=True)
    if row.received_at <= expired_at:
        return context.commit(lambda: _end_event(context.clock, row_id, EventOutcome.EXPIRED))
    payment = _find_payment(row.processor, row.account_id, row.intent_id, None)
    if payment is None or row.intent_id is None:
        return context.commit(lambda: _end_event(context.clock, row_id, EventOutcome.NO_PAYMENT))
    refund_id = row.payload.get("refundId") or None
    event_to_apply = _EventToApply(
        row.id, payment.site_id, payment.id, AccountRef(row.account_id), row.intent_id, refund_id
    )
    db.session.rollback()
    answer = _read_processor(processor, event_to_apply)
    outcome = context.commit(lambda: _apply(context.clock, event_to_apply, answer))
    if outcome is EventOutcome.WAITING and answer.error is not None:
        raise answer.error
    return outcome


def _store(clock: Clock, processor: PaymentProcessor, event: ProcessorEvent) -> _EventToApply | EventOutcome:
    """Store an event; return the payment that it is about, or the outcome where there is nothing to follow."""
    payment = _find_payment(processor.name, event.account_id, event.intent_id, event.intent)
    site_id = payment.site_id if payment else site_of_account(event.account_id)
    outcome = _immediate_outcome(processor, event, payment, site_id)
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
        # Only what is needed to follow the event later: events name customers, also of payments made elsewhere.
        "payload": {"refundId": event.refund.id} if payment and event.refund else {},
    }
    inserted = upsert(StoredProcessorEvent).values(**values).on_conflict_do_nothing()
    row_id = db.session.scalar(inserted.returning(StoredProcessorEvent.id))
    if row_id is None:
        return EventOutcome.DUPLICATE
    if outcome or payment is None or event.intent_id is None:
        return outcome or EventOutcome.NO_PAYMENT
    if event.type == DISPUTE:  # A dispute cannot be read from the processor, and each event comes here once.
        mark_disputed(Author(payment.site_id, ACTOR, clock), payment.id, ACTION)
    ref, refund_id = AccountRef(event.account_id), event.refund.id if event.refund else None
    return _EventToApply(
        row_id, payment.site_id, payment.id, ref, event.intent_id, refund_id, event.intent, event.refund
    )


def _immediate_outcome(
    processor: PaymentProcessor, event: ProcessorEvent, payment: PosTransaction | None, site_id: int | None
) -> EventOutcome | None:
    """Return the outcome of an event, None for one that is to be followed."""
    if event.live != processor.live:
        outcome = EventOutcome.WRONG_MODE
    elif site_id is None and event.account_id:
        outcome = EventOutcome.UNKNOWN_ACCOUNT
    elif payment is None:
        return EventOutcome.NO_PAYMENT
    else:
        return None
    log.warning("processor_event_refused", event_id=event.id, account=event.account_id, reason=outcome.value)
    return outcome


def _find_payment(
    processor: str, account_id: str, intent_id: str | None, snapshot: Intent | None
) -> PosTransaction | None:
    """Return the transaction of an intent: by its id, or by the id in its metadata where the answer to its creation has
    not come yet."""
    of_account = PosTransaction.processor == processor, PosTransaction.processor_account_id == account_id
    if intent_id is None:
        return None
    query = select(PosTransaction).where(*of_account, PosTransaction.processor_intent_id == intent_id)
    payment = db.session.scalar(query)
    named = transaction_id_of(snapshot) if snapshot else None
    if payment is not None or named is None:
        return payment
    return db.session.scalar(select(PosTransaction).where(*of_account, PosTransaction.id == named))


def _read_processor(processor: PaymentProcessor, event_to_apply: _EventToApply) -> _ProcessorAnswer:
    try:
        intent = processor.retrieve_intent(event_to_apply.ref, event_to_apply.intent_id)
        refund = (
            processor.retrieve_refund(event_to_apply.ref, event_to_apply.refund_id)
            if event_to_apply.refund_id
            else None
        )
    except ProcessorError as error:
        return _ProcessorAnswer(error=error)
    return _ProcessorAnswer(intent, refund)


def _apply(clock: Clock, event_to_apply: _EventToApply, answer: _ProcessorAnswer) -> EventOutcome:
    """Apply an event to its payment. What the event said itself serves only where the processor cannot be read."""
    payment = db.session.get_one(PosTransaction, event_to_apply.transaction_id, populate_existing=True)
    # A payment that was given up comes back only when the processor itself says so now.
    snapshot = event_to_apply.snapshot if payment.status in OPEN_STATUSES else None
    intent = answer.intent or snapshot
    refund = event_to_apply.refund if answer.error else answer.refund
    if intent is None and refund is None:
        return _count_failed_try(clock, event_to_apply.row_id, answer.error)
    author = Author(event_to_apply.site_id, ACTOR, clock)
    if intent is not None:
        if not is_intent_of(payment, intent):
            note_other_intent(author, payment, intent)
            return _end_event(clock, event_to_apply.row_id, EventOutcome.MISMATCH)
        apply_intent(author, payment.id, intent, ACTION)
    if refund is not None:
        apply_reported_refund(author, payment.id, refund)
    return _end_event(clock, event_to_apply.row_id, EventOutcome.APPLIED)


def _count_failed_try(clock: Clock, row_id: int, error: ProcessorError | None) -> EventOutcome:
    """Count a failed try of an event, which is tried again, unless the processor says that there is no such payment or
    refund: then end it as NOT_FOUND."""
    if isinstance(error, IntentNotFound):
        return _end_event(clock, row_id, EventOutcome.NOT_FOUND)
    row = db.session.get_one(StoredProcessorEvent, row_id)
    row.attempts, row.error = row.attempts + 1, error.message[:LONGEST_ERROR] if error else None
    return EventOutcome.WAITING


def _end_event(clock: Clock, row_id: int, outcome: EventOutcome) -> EventOutcome:
    row = db.session.get_one(StoredProcessorEvent, row_id)
    row.processed_at, row.outcome, row.error = clock.now(), outcome.value, None
    return outcome
