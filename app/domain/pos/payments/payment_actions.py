"""Read, capture and cancel a payment. A capture mostly just brings the shop up to date: most payments are captured by
the tap itself (docs/payments.md). Call these outside a transaction."""

from __future__ import annotations

from dataclasses import dataclass

from app.domain.orders.models import Order
from app.domain.pos.models import PosTransaction
from app.domain.pos.payments import transitions
from app.domain.pos.payments.cashier import Cashier, PaymentRef, own_payment_of_intent, payment_of_intent, ref_of
from app.domain.pos.payments.processor_calls import about
from app.domain.pos.processor import (
    Declined,
    Intent,
    IntentStatus,
    InvalidState,
    OutcomeUnknown,
    PaymentError,
    PaymentProcessor,
    ProcessorError,
)
from app.domain.pos.states import PAID_STATUSES, TransactionStatus
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, NotFound
from app.domain.shared.records import find_record
from app.domain.work.context import WorkContext, read_afresh

_S = TransactionStatus


@dataclass(frozen=True, slots=True)
class PaymentState:
    """A payment with its current status, and its intent where that was read; `is_settled` is False for a status after
    which clients should read it again."""

    payment: PosTransaction
    intent: Intent | None = None

    @property
    def is_settled(self) -> bool:
        return self.payment.status not in (_S.PROCESSING, _S.AUTHORIZED, _S.UNKNOWN)

    @property
    def intent_status(self) -> IntentStatus:
        """The status in the processor's words. An unknown outcome counts as being processed."""
        return INTENT_STATUS[TransactionStatus(self.payment.status)]


INTENT_STATUS = {
    _S.CREATING: IntentStatus.REQUIRES_PAYMENT_METHOD,
    _S.PENDING: IntentStatus.REQUIRES_PAYMENT_METHOD,
    _S.PROCESSING: IntentStatus.PROCESSING,
    _S.UNKNOWN: IntentStatus.PROCESSING,
    _S.AUTHORIZED: IntentStatus.REQUIRES_CAPTURE,
    _S.SUCCEEDED: IntentStatus.SUCCEEDED,
    _S.PARTIALLY_REFUNDED: IntentStatus.SUCCEEDED,
    _S.REFUNDED: IntentStatus.SUCCEEDED,
    _S.CANCELLED: IntentStatus.CANCELED,
    _S.FAILED: IntentStatus.CANCELED,
}


@dataclass(frozen=True, slots=True)
class _Till:
    """A payment of a cashier, with what the calls to the processor need."""

    context: WorkContext
    processor: PaymentProcessor
    cashier: Cashier
    known: PaymentRef

    def apply(self, intent: Intent, action: str) -> PosTransaction:
        author, transaction_id = self.cashier.author, self.known.transaction_id
        return self.context.commit(lambda: transitions.apply_intent(author, transaction_id, intent, action))

    def lose(self, action: str) -> PosTransaction:
        """Save that the outcome of a capture or cancellation is unknown."""
        author, transaction_id = self.cashier.author, self.known.transaction_id
        return self.context.commit(lambda: transitions.outcome_unknown(author, transaction_id, action))

    def read(self) -> Intent:
        with about(self.known.transaction_id):
            return self.processor.retrieve_intent(self.known.ref, self.known.intent_id)


def read_payment(context: WorkContext, processor: PaymentProcessor, cashier: Cashier, intent_id: str) -> PaymentState:
    """Return the payment of any agent at this location, brought up to date while it is open. Raises NotFound and
    ProcessorError."""
    payment = payment_of_intent(cashier, intent_id)
    if _is_final(payment):
        return PaymentState(payment)
    till = _till(context, processor, cashier, payment)
    intent = till.read()
    return PaymentState(till.apply(intent, "read"), intent)


def read_open_payment(context: WorkContext, processor: PaymentProcessor, author: Author, order: Order) -> None:
    """Bring the payment under way for an order up to date, if there is one: the card may have paid without a report of
    it so far. Where the processor does not answer, nothing changes."""
    if order.payment_lock is None or order.paid_at is not None:
        return
    payment = find_record(PosTransaction, order.site_id, order.payment_lock)
    if payment is None or payment.processor_intent_id is None or _is_final(payment):
        return
    known = ref_of(payment)
    read_afresh()
    try:
        intent = processor.retrieve_intent(known.ref, known.intent_id)
    except ProcessorError:
        return
    context.commit(lambda: transitions.apply_intent(author, known.transaction_id, intent, "read"))


def capture(context: WorkContext, processor: PaymentProcessor, cashier: Cashier, intent_id: str) -> PaymentState:
    """Capture a payment of the cashier; return it as it then is, UNKNOWN where the processor did not answer. Raises
    NotFound, Declined, Conflict `payment_not_collected` or `payment_canceled`, and ProcessorError."""
    payment = own_payment_of_intent(cashier, intent_id)
    if _is_final(payment):
        return PaymentState(_captured(payment, None))
    till = _till(context, processor, cashier, payment)
    try:
        intent = till.read()
        if intent.status is IntentStatus.REQUIRES_CAPTURE:
            intent = _capture_held(till)
    except OutcomeUnknown:
        return PaymentState(till.lose("capture"))
    return PaymentState(_captured(till.apply(intent, "capture"), intent.last_error), intent)


def _capture_held(till: _Till) -> Intent:
    """Capture an intent that the card only authorised; where that fails, read the intent again. Raises
    ProcessorError."""
    known = till.known
    try:
        with about(known.transaction_id):
            return till.processor.capture_intent(known.ref, known.intent_id, f"pos-capture-{known.transaction_id}")
    except (InvalidState, Declined, OutcomeUnknown):
        return till.read()


def _captured(payment: PosTransaction, error: PaymentError | None) -> PosTransaction:
    """Return the payment. Raises Declined and Conflict where no money came, and none is on its way."""
    if payment.status in (_S.CANCELLED, _S.FAILED):
        raise Conflict("This payment was cancelled.", "payment_canceled", **_about(payment))
    if payment.status != _S.PENDING:
        return payment
    if error is None:
        raise Conflict("No card was held to the reader yet.", "payment_not_collected", **_about(payment))
    declined = Declined("The card was declined. Try again or use another card.", error.decline_code)
    declined.details = {"declineCode": error.decline_code or error.code, "retryable": True, **_about(payment)}
    raise declined


def cancel(
    context: WorkContext, processor: PaymentProcessor, cashier: Cashier, intent_id: str, reason: str | None
) -> PaymentState:
    """Cancel a payment of the cashier; return it as it then is, UNKNOWN where the processor did not answer. Raises
    NotFound, Conflict `already_captured` or `payment_processing`, and ProcessorError."""
    payment = own_payment_of_intent(cashier, intent_id)
    if _is_final(payment):
        return PaymentState(_cancelled(payment))
    till = _till(context, processor, cashier, payment)
    known = till.known
    # The processor repeats a refusal under its key, so every version of the payment has a key of its own.
    key = f"pos-cancel-{known.transaction_id}-{known.version}-{reason or 'none'}"
    try:
        with about(known.transaction_id):
            intent = processor.cancel_intent(known.ref, known.intent_id, reason, key)
    except InvalidState as error:
        intent = error.intent
    except OutcomeUnknown:
        return PaymentState(till.lose("cancel"))
    return PaymentState(_cancelled(till.apply(intent, "cancel")), intent)


def _cancelled(payment: PosTransaction) -> PosTransaction:
    """Return the payment. Raises Conflict where money came, or may still come."""
    if payment.status in PAID_STATUSES:
        raise AlreadyCaptured(payment)
    if payment.status in (_S.CANCELLED, _S.FAILED):
        return payment
    raise Conflict(
        "The card is being charged just now. Look again in a moment.", "payment_processing", **_about(payment)
    )


class AlreadyCaptured(Conflict):
    """The card was charged before the payment could be cancelled; `payment` is the payment as it is now."""

    code = "already_captured"

    def __init__(self, payment: PosTransaction) -> None:
        super().__init__("This payment was made. Give a refund instead.")
        self.payment, self.details = payment, _about(payment)


def transaction_of(cashier: Cashier, transaction_id: str) -> PosTransaction:
    """Return a payment of this location by the id of its transaction. Raises NotFound."""
    found = find_record(PosTransaction, cashier.author.site_id, transaction_id)
    if found is None or found.location_id != cashier.location_id:
        raise NotFound("This location has no such payment.", "transaction_not_found")
    return found


def _till(context: WorkContext, processor: PaymentProcessor, cashier: Cashier, payment: PosTransaction) -> _Till:
    """Return what the calls to the processor need, and end the database transaction, so that none is open from here
    on."""
    known = ref_of(payment)
    read_afresh()
    return _Till(context, processor, cashier, known)


def _is_final(payment: PosTransaction) -> bool:
    return payment.status in PAID_STATUSES or payment.status in (_S.CANCELLED, _S.FAILED)


def _about(payment: PosTransaction) -> dict[str, object]:
    return {"transactionId": payment.id, "paymentIntentId": payment.processor_intent_id}
