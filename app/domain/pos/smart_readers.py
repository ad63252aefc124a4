"""Smart readers: card readers that the payment processor drives over the network, for apps without a reader of their
own. A reader only collects a payment that exists already, which is charged once however often it is given to readers.
Call these outside a transaction."""

from __future__ import annotations

import re
import uuid

from app.domain.pos.locations import account_of
from app.domain.pos.models import PosLocation, PosTransaction
from app.domain.pos.payments import transitions
from app.domain.pos.payments.cashier import NO_INTENT, Cashier, PaymentRef, errors_about, own_payment_of_intent, ref_of
from app.domain.pos.payments.settlement import AlreadyCaptured
from app.domain.pos.processor import (
    AccountRef,
    Intent,
    IntentNotFound,
    InvalidState,
    OutcomeUnknown,
    PaymentProcessor,
    ProcessorError,
    Reader,
    ReaderBusy,
    ReaderNotFound,
    ReaderOffline,
)
from app.domain.pos.states import PAID_STATUSES, TransactionStatus
from app.domain.shared.problems import Conflict, NotFound
from app.domain.sites.settings import settings_of
from app.domain.work.context import WorkContext, read_afresh
from app.extensions import db

NO_READER = "This location has no such card reader."
READER_ID = re.compile(r"[A-Za-z0-9_]{1,255}")  # Of processors; an id of another form is not sent to them.
CLOSED = (TransactionStatus.CANCELLED, TransactionStatus.FAILED)


def list_readers(processor: PaymentProcessor, cashier: Cashier) -> list[Reader]:
    """Return the smart readers of the cashier's location. Raises ProcessorError."""
    ref, location_id = _place_of(cashier)
    return processor.list_readers(ref, location_id)


def find_reader(processor: PaymentProcessor, cashier: Cashier, reader_id: str) -> Reader:
    """Return a smart reader of the cashier's location as it is now. Raises NotFound and ProcessorError."""
    ref, location_id = _place_of(cashier)
    return _reader_at(processor, ref, location_id, reader_id)


def process_payment(
    context: WorkContext, processor: PaymentProcessor, cashier: Cashier, reader_id: str, intent_id: str
) -> Reader:
    """Let a reader collect a payment of the cashier, which waits for the card after this; doing so again while it waits
    changes nothing. Raises NotFound, Conflict `reader_busy`, `reader_offline`, `already_captured`, `payment_canceled`
    or `payment_processing`, and ProcessorError."""
    payment = own_payment_of_intent(cashier, intent_id)
    if payment.processor != processor.name:
        raise NotFound(NO_INTENT, "payment_intent_not_found")
    if payment.status in PAID_STATUSES or payment.status in CLOSED:
        raise _refusal_of(payment)
    target = ref_of(payment)
    _, location_id = _place_of(cashier)
    with errors_about(target.transaction_id):
        reader = _reader_at(processor, target.ref, location_id, reader_id)
        if reader.is_busy:
            return _reader_of_payment(reader, target)
        try:
            return _hand_over(processor, reader, target)
        except InvalidState as error:
            raise _refusal_of(_apply(context, cashier, target, error.intent)) from error
        except IntentNotFound as error:
            raise NotFound(NO_INTENT, "payment_intent_not_found") from error


def cancel_action(processor: PaymentProcessor, cashier: Cashier, reader_id: str) -> Reader:
    """Stop a reader that waits for the card of a payment of the cashier; the payment stays open. One that does nothing
    stays as it is. Raises NotFound, Conflict `reader_busy` where it does something else or charges the card just now,
    Conflict `reader_offline`, and ProcessorError."""
    ref, location_id = _place_of(cashier)
    reader = _reader_at(processor, ref, location_id, reader_id)
    if not reader.is_busy:
        return reader
    transaction_id = _own_payment_on(reader, cashier).id
    read_afresh()
    try:
        with errors_about(transaction_id):
            return processor.cancel_reader_action(ref, reader_id)
    except (ReaderBusy, ReaderOffline, ReaderNotFound) as error:
        raise _reader_problem(error) from error


def _place_of(cashier: Cashier) -> tuple[AccountRef, str]:
    """Return the account and the processor's id of the cashier's location, and end the database transaction."""
    location = db.session.get_one(PosLocation, cashier.location_id)
    account_id = account_of(location.processor_account_id, settings_of(location.site_id))
    location_id = location.location_id
    read_afresh()
    return AccountRef(account_id), location_id


def _reader_at(processor: PaymentProcessor, ref: AccountRef, location_id: str, reader_id: str) -> Reader:
    """Return a reader of the location. Raises NotFound, also for one of another location, and ProcessorError."""
    if not READER_ID.fullmatch(reader_id):
        raise _reader_problem(ReaderNotFound())
    try:
        reader = processor.retrieve_reader(ref, reader_id)
    except ReaderNotFound as error:
        raise _reader_problem(error) from error
    if reader.location_id != location_id:
        raise _reader_problem(ReaderNotFound())
    return reader


def _reader_of_payment(reader: Reader, target: PaymentRef) -> Reader:
    """Return a busy reader that collects the payment already. Raises Conflict where it does something else."""
    if not reader.has_taken(target.intent_id):
        raise _reader_problem(ReaderBusy())
    return reader


def _hand_over(processor: PaymentProcessor, reader: Reader, target: PaymentRef) -> Reader:
    """Give a payment to a reader. Where it is unclear whether the reader took it, or another request was faster, the
    reader is read again. Every call has a key of its own: after a decline the processor would only repeat its answer.
    Raises Conflict and ProcessorError."""
    key = f"pos-process-{target.transaction_id}-{uuid.uuid4()}"
    try:
        return processor.process_intent(target.ref, reader.id, target.intent_id, key)
    except (OutcomeUnknown, ReaderBusy) as error:
        found = _read_again(processor, reader, target)
        if found is not None and found.has_taken(target.intent_id):
            return found
        raise _reader_problem(error) from error
    except (ReaderOffline, ReaderNotFound) as error:
        raise _reader_problem(error) from error


def _read_again(processor: PaymentProcessor, reader: Reader, target: PaymentRef) -> Reader | None:
    """Return the reader as it is now, None where that cannot be read."""
    try:
        return processor.retrieve_reader(target.ref, reader.id)
    except ProcessorError:
        return None


def _own_payment_on(reader: Reader, cashier: Cashier) -> PosTransaction:
    """Return the payment that a busy reader collects, which the cashier may stop. Raises Conflict."""
    intent_id = reader.action.intent_id if reader.action else None
    try:
        return own_payment_of_intent(cashier, intent_id or "")
    except NotFound as error:
        raise _reader_problem(ReaderBusy()) from error


def _apply(context: WorkContext, cashier: Cashier, target: PaymentRef, intent: Intent) -> PosTransaction:
    author, transaction_id = cashier.author, target.transaction_id
    return context.commit(lambda: transitions.apply_intent(author, transaction_id, intent, "read"))


def _refusal_of(payment: PosTransaction) -> Conflict:
    """Return the reason why a payment waits for no card."""
    if payment.status in PAID_STATUSES:
        return AlreadyCaptured(payment)
    ids = {"transactionId": payment.id, "paymentIntentId": payment.processor_intent_id}
    if payment.status in CLOSED:
        return Conflict("This payment was cancelled.", "payment_canceled", **ids)
    return Conflict("A card is being charged for this payment already.", "payment_processing", **ids)


def _reader_problem(error: ProcessorError) -> Exception:
    """Return what an error of the processor means at the till; errors that are not about the reader stay."""
    if isinstance(error, ReaderBusy):
        return Conflict("The card reader is busy with something else.", "reader_busy")
    if isinstance(error, ReaderOffline):
        return Conflict("The card reader is off, or has no network.", "reader_offline")
    return NotFound(NO_READER, "reader_not_found") if isinstance(error, ReaderNotFound) else error
