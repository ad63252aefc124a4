"""Bring one open payment or refund up to date with the processor. Rules: the state table in docs/payments.md. The
processor is called outside every transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from app.domain.alerts.alerts import raise_alert
from app.domain.alerts.causes import Cause
from app.domain.pos.ledger import is_intent_of, note_difference, note_other_intent, transaction_id_of
from app.domain.pos.ledger_comparison import Difference, DifferenceKind
from app.domain.pos.models import PosRefund, PosTransaction
from app.domain.pos.payments.cashier import payment_of_processor
from app.domain.pos.payments.transitions import apply_intent, mark_creation_failed, schedule_next_check
from app.domain.pos.processor import (
    AccountRef,
    Intent,
    IntentNotFound,
    InvalidState,
    PaymentProcessor,
)
from app.domain.pos.refunds import (
    UNSETTLED,
    RefundState,
    card_refunds_of,
    is_made,
    leave_to_admin,
    schedule_refund_check,
    send_refund,
    settle_refund,
    was_refund_made,
)
from app.domain.pos.states import ABANDONED_AFTER, OPEN_STATUSES, TransactionStatus
from app.domain.shared.author import Author
from app.domain.work.context import WorkContext, read_afresh
from app.extensions import db

ACTOR, ACTION = "reconciliation", "reconcile"
GIVEN_UP_AFTER = timedelta(hours=24)  # An intent that was not found by then was never made.
KEY_HOLDS = timedelta(hours=23)  # Processors remember an idempotency key for at least a day.
REFUND_LOOKED_FOR = timedelta(days=7)  # A refund that cannot be read for so long is left to people.
LISTED_BEFORE = timedelta(minutes=5)  # The processor's clock may be behind.
NOT_FOUND = "not_found_at_processor"
ABANDONED = "abandoned"
UNREADABLE = "The payment processor did not say for a week how it stands"
NEVER_MADE = "The payment processor never made it"

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class DuePayment:
    """An open payment to check, as it was when it was claimed."""

    id: str
    site_id: int
    account_id: str
    intent_id: str | None
    created_at: datetime

    @classmethod
    def of(cls, row: PosTransaction) -> DuePayment:
        return cls(row.id, row.site_id, row.processor_account_id, row.processor_intent_id, row.created_at)


def list_intents_by_transaction(
    context: WorkContext, processor: PaymentProcessor, account_id: str, payments: list[DuePayment]
) -> Mapping[str, Intent]:
    """Return the account's intents by the transaction that they name: where the answer to a creation was lost, its
    intent is found by the id in its metadata. Raises ProcessorError."""
    since = min(payment.created_at for payment in payments) - LISTED_BEFORE
    until = min(max(payment.created_at for payment in payments) + GIVEN_UP_AFTER, context.clock.now()) + LISTED_BEFORE
    listed = processor.list_intents(AccountRef(account_id), since, until)
    return {named: intent for intent in listed if (named := transaction_id_of(intent)) is not None}


def settle_payment(
    context: WorkContext, processor: PaymentProcessor, due: DuePayment, listed: Mapping[str, Intent]
) -> None:
    """Bring an open payment up to date with the processor; one that still waits for a card after ABANDONED_AFTER is
    cancelled. `listed` are the account's intents by transaction. Raises ProcessorError where the processor cannot be
    read."""
    author = Author(due.site_id, ACTOR, context.clock)
    intent = (
        listed.get(due.id) if due.intent_id is None else _read_intent(context, processor, author, due, due.intent_id)
    )
    if intent is None:
        context.commit(lambda: _note_not_found(author, due))
        return
    status, version = context.commit(lambda: _apply_intent_of_check(author, due.id, intent))
    if status is TransactionStatus.PENDING and author.now() - due.created_at >= ABANDONED_AFTER:
        _abandon(context, processor, author, due, intent.id, f"pos-abandon-{due.id}-{version}")


def _read_intent(
    context: WorkContext, processor: PaymentProcessor, author: Author, due: DuePayment, intent_id: str
) -> Intent | None:
    try:
        return processor.retrieve_intent(AccountRef(due.account_id), intent_id)
    except IntentNotFound as missing:
        theirs = missing.message
        difference = Difference(
            DifferenceKind.MISSING_INTENT, due.account_id, intent_id, due.id, ours="an open payment", theirs=theirs
        )
        context.commit(lambda: note_difference(author, difference))
        return None


def _note_not_found(author: Author, due: DuePayment) -> None:
    """Save that the intent of a payment was not found. It is never created anew: it may exist and show itself later."""
    if due.intent_id is None and author.now() - due.created_at >= GIVEN_UP_AFTER:
        mark_creation_failed(author, due.id, NOT_FOUND, ACTION)
    else:
        schedule_next_check(author, due.id, ACTION)


def _apply_intent_of_check(author: Author, transaction_id: str, intent: Intent) -> tuple[TransactionStatus, int]:
    """Apply an intent to its transaction; return the status and the version after it."""
    payment = db.session.get_one(PosTransaction, transaction_id, populate_existing=True)
    if not is_intent_of(payment, intent):
        payment = schedule_next_check(author, transaction_id, ACTION)
        note_other_intent(author, payment, intent)
    else:
        payment = apply_intent(author, transaction_id, intent, ACTION, checked=True)
        _warn_if_uncaptured(author, payment)
    return TransactionStatus(payment.status), payment.version


def _warn_if_uncaptured(author: Author, payment: PosTransaction) -> None:
    """Raise an alert about an authorised payment that the till never captured: only a person knows whether the goods
    were handed over."""
    if payment.status == TransactionStatus.AUTHORIZED and author.now() - payment.created_at >= ABANDONED_AFTER:
        detail = f"Payment {payment.id} is authorised and was not captured: capture or cancel it."
        raise_alert(author.clock, Cause.PAYMENT_ANOMALY, detail, payment.site_id, payment.id)


def _abandon(
    context: WorkContext, processor: PaymentProcessor, author: Author, due: DuePayment, intent_id: str, key: str
) -> None:
    """Cancel a payment to which no card was held for half an hour. Where a tap comes first, it counts. `key` differs by
    try: a processor repeats a failure under the same one for a day."""
    try:
        intent = processor.cancel_intent(AccountRef(due.account_id), intent_id, ABANDONED, key)
    except InvalidState as changed:
        intent = changed.intent
    read = intent
    context.commit(lambda: apply_intent(author, due.id, read, ABANDONED))


def note_unread(context: WorkContext, due: DuePayment) -> None:
    """Schedule the next check of a payment that could not be read."""

    def schedule() -> None:
        payment = db.session.get_one(PosTransaction, due.id, populate_existing=True)
        if payment.status in OPEN_STATUSES:
            schedule_next_check(Author(due.site_id, ACTOR, context.clock), due.id, ACTION)

    context.commit(schedule)


def check_now(context: WorkContext, author: Author, processor: PaymentProcessor, transaction_id: str) -> bool:
    """Apply the processor's current state of a payment, for staff in the admin; return whether its status changed.
    Raises NotFound, Conflict and ProcessorError."""
    payment = payment_of_processor(author.site_id, processor, transaction_id)
    before, due = payment.status, DuePayment.of(payment)
    read_afresh()
    if due.intent_id is None:
        listed = list_intents_by_transaction(context, processor, due.account_id, [due])
        settle_payment(context, processor, due, listed)
    else:
        intent = processor.retrieve_intent(AccountRef(due.account_id), due.intent_id)
        context.commit(lambda: apply_intent(author, transaction_id, intent, "check"))
    read_afresh()
    return payment_of_processor(author.site_id, processor, transaction_id).status != before


def settle_open_refund(context: WorkContext, processor: PaymentProcessor, site_id: int, refund_id: str) -> None:
    """Bring an unsettled refund up to date with the processor. Raises ProcessorError where the processor cannot be
    read, or refuses the refund now."""
    author = Author(site_id, ACTOR, context.clock)
    refund = db.session.get_one(PosRefund, refund_id, populate_existing=True)
    payment = db.session.get_one(PosTransaction, refund.transaction_id)
    ref, processor_refund_id = AccountRef(payment.processor_account_id), refund.processor_refund_id
    is_repeatable = author.now() - refund.created_at < KEY_HOLDS
    if processor_refund_id is not None:
        db.session.rollback()
        read = processor.retrieve_refund(ref, processor_refund_id)
        context.commit(lambda: settle_refund(author, refund_id, RefundState.of(read.status), read.id))
        return
    if is_repeatable:
        send_refund(context, author, processor, refund_id, is_repeated=True)
    else:
        _settle_by_charge(context, processor, author, refund_id)


def note_unread_refund(context: WorkContext, site_id: int, refund_id: str) -> None:
    """Schedule the next check of a refund that could not be read; after REFUND_LOOKED_FOR, leave it to people."""
    author = Author(site_id, ACTOR, context.clock)
    context.commit(lambda: _look_for_refund_later(author, refund_id))


def _look_for_refund_later(author: Author, refund_id: str) -> None:
    refund = db.session.get_one(PosRefund, refund_id, populate_existing=True, with_for_update=True)
    is_due = refund.next_check_at is not None and refund.next_check_at <= author.now()
    if is_due and refund.status in UNSETTLED:
        schedule_refund_check(author, refund)
    if refund.next_check_at is not None and author.now() - refund.created_at >= REFUND_LOOKED_FOR:
        refund.next_check_at, refund.error = None, UNREADABLE
        detail = f"A refund of payment {refund.transaction_id}: {UNREADABLE}. Look it up there."
        raise_alert(author.clock, Cause.REFUND_FAILED, detail, refund.site_id, refund.transaction_id)


def _settle_by_charge(context: WorkContext, processor: PaymentProcessor, author: Author, refund_id: str) -> None:
    """Settle an unanswered refund by the refunded sum of its charge: once its key may be forgotten it is not sent
    again, and that sum is all that may say whether it was made."""
    refund = db.session.get_one(PosRefund, refund_id, populate_existing=True)
    payment = db.session.get_one(PosTransaction, refund.transaction_id)
    ref, intent_id = AccountRef(payment.processor_account_id), payment.processor_intent_id or ""
    made = _made_sum(card_refunds_of(author.site_id, payment.id))
    db.session.rollback()
    unexplained = processor.retrieve_intent(ref, intent_id).refunded - made
    context.commit(lambda: _compare_with_charge(author, refund_id, made, unexplained))


def _compare_with_charge(author: Author, refund_id: str, made: int, unexplained: int) -> None:
    """Settle a refund by the refunded sum of its charge. It stays UNKNOWN where another refund was made since the
    charge was read, and, unless the sum is too small for it, while another one is still sent again."""
    refund = db.session.get_one(PosRefund, refund_id, populate_existing=True)
    refunds = card_refunds_of(author.site_id, refund.transaction_id)
    others = [one for one in refunds if one.id != refund.id and one.status in UNSETTLED and not is_made(one)]
    was_made = was_refund_made(refund.amount, [one.amount for one in others], unexplained)
    if _made_sum(refunds) != made:
        settle_refund(author, refund_id, RefundState.UNKNOWN, error=refund.error)
    elif unexplained < refund.amount:
        settle_refund(author, refund_id, RefundState.FAILED, error=NEVER_MADE)
    elif any(author.now() - one.created_at < KEY_HOLDS for one in others):
        settle_refund(author, refund_id, RefundState.UNKNOWN, error=refund.error)
    elif was_made is None:
        leave_to_admin(author, refund_id)
    else:
        state, error = (RefundState.SUCCEEDED, None) if was_made else (RefundState.FAILED, NEVER_MADE)
        settle_refund(author, refund_id, state, error=error)


def _made_sum(refunds: Sequence[PosRefund]) -> int:
    return sum(refund.amount for refund in refunds if is_made(refund))
