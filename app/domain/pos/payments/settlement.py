"""Read, capture and cancel a payment, at the till or by staff in the admin. A capture mostly just brings the shop up to
date: most payments are captured by the tap itself (docs/payments.md). Call these outside a transaction."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from sqlalchemy import select

from app.domain.orders.models import Order
from app.domain.pos.models import PosTransaction
from app.domain.pos.payments import transitions
from app.domain.pos.payments.cashier import (
    Cashier,
    PaymentRef,
    errors_about,
    own_payment_of_intent,
    payment_of_intent,
    payment_of_processor,
    ref_of,
)
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
from app.domain.pos.states import OPEN_STATUSES, PAID_STATUSES, TransactionStatus
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict
from app.domain.sites import activity
from app.domain.work.context import WorkContext, read_afresh
from app.extensions import db

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
class _PaymentCalls:
    """A payment of a cashier, with what the calls to the processor need."""

    context: WorkContext
    processor: PaymentProcessor
    cashier: Cashier
    target: PaymentRef

    def apply(self, intent: Intent, action: str) -> PosTransaction:
        author, transaction_id = self.cashier.author, self.target.transaction_id
        return self.context.commit(lambda: transitions.apply_intent(author, transaction_id, intent, action))

    def apply_unanswered(self, action: str) -> PosTransaction:
        """Save that the outcome of a capture or cancellation is unknown."""
        author, transaction_id = self.cashier.author, self.target.transaction_id
        return self.context.commit(lambda: transitions.mark_outcome_unknown(author, transaction_id, action))

    def read(self) -> Intent:
        with errors_about(self.target.transaction_id):
            return self.processor.retrieve_intent(self.target.ref, self.target.intent_id)


class AlreadyCaptured(Conflict):
    """The card was charged before the payment could be cancelled; `payment` is the payment as it is now."""

    code = "already_captured"

    def __init__(self, payment: PosTransaction) -> None:
        super().__init__("This payment was made. Give a refund instead.")
        self.payment, self.details = payment, _ids_of(payment)


def read_payment(context: WorkContext, processor: PaymentProcessor, cashier: Cashier, intent_id: str) -> PaymentState:
    """Return the payment of any agent at this location, brought up to date while it is open. Raises NotFound and
    ProcessorError."""
    payment = payment_of_intent(cashier, intent_id)
    if _is_final(payment):
        return PaymentState(payment)
    calls = _begin_calls(context, processor, cashier, payment)
    intent = calls.read()
    return PaymentState(calls.apply(intent, "read"), intent)


def read_open_payment(context: WorkContext, processor: PaymentProcessor, author: Author, order: Order) -> None:
    """Bring the payments under way for an order up to date, if there are any: a card may have paid without a report of
    it so far. Where the processor does not answer, nothing changes."""
    if not order.reserved_amount:
        return
    of_order = PosTransaction.site_id == order.site_id, PosTransaction.order_id == order.id
    under_way = select(PosTransaction).where(*of_order, PosTransaction.status.in_(OPEN_STATUSES))
    of_processor = PosTransaction.processor == processor.name, PosTransaction.processor_intent_id.is_not(None)
    targets = [ref_of(payment) for payment in db.session.scalars(under_way.where(*of_processor))]
    read_afresh()
    for target in targets:
        try:
            intent = processor.retrieve_intent(target.ref, target.intent_id)
        except ProcessorError:
            continue
        context.commit(partial(transitions.apply_intent, author, target.transaction_id, intent, "read"))


def capture(context: WorkContext, processor: PaymentProcessor, cashier: Cashier, intent_id: str) -> PaymentState:
    """Capture a payment of the cashier; return it as it then is, UNKNOWN where the processor did not answer. Raises
    NotFound, Declined, Conflict `payment_not_collected` or `payment_canceled`, and ProcessorError."""
    payment = own_payment_of_intent(cashier, intent_id)
    if _is_final(payment):
        return PaymentState(_check_captured(payment, None))
    calls = _begin_calls(context, processor, cashier, payment)
    try:
        intent = calls.read()
        if intent.status is IntentStatus.REQUIRES_CAPTURE:
            intent = _capture_held(calls)
    except OutcomeUnknown:
        return PaymentState(calls.apply_unanswered("capture"))
    return PaymentState(_check_captured(calls.apply(intent, "capture"), intent.last_error), intent)


def _capture_held(calls: _PaymentCalls) -> Intent:
    """Capture an intent that the card only authorised; where that fails, read the intent again. Raises
    ProcessorError."""
    target = calls.target
    try:
        with errors_about(target.transaction_id):
            return calls.processor.capture_intent(target.ref, target.intent_id, f"pos-capture-{target.transaction_id}")
    except (InvalidState, Declined, OutcomeUnknown):
        return calls.read()


def _check_captured(payment: PosTransaction, error: PaymentError | None) -> PosTransaction:
    """Return the payment. Raises Declined and Conflict where no money came, and none is on its way."""
    if payment.status in (_S.CANCELLED, _S.FAILED):
        raise Conflict("This payment was cancelled.", "payment_canceled", **_ids_of(payment))
    if payment.status != _S.PENDING:
        return payment
    if error is None:
        raise Conflict("No card was held to the reader yet.", "payment_not_collected", **_ids_of(payment))
    declined = Declined("The card was declined. Try again or use another card.", error.decline_code)
    declined.details = {"declineCode": error.decline_code or error.code, "retryable": True, **_ids_of(payment)}
    raise declined


def cancel(
    context: WorkContext, processor: PaymentProcessor, cashier: Cashier, intent_id: str, reason: str | None
) -> PaymentState:
    """Cancel a payment of the cashier; return it as it then is, UNKNOWN where the processor did not answer. Raises
    NotFound, Conflict `already_captured` or `payment_processing`, and ProcessorError."""
    payment = own_payment_of_intent(cashier, intent_id)
    if _is_final(payment):
        return PaymentState(_check_cancelled(payment))
    calls = _begin_calls(context, processor, cashier, payment)
    target = calls.target
    # The processor repeats a refusal under its key, so every version of the payment has a key of its own.
    key = f"pos-cancel-{target.transaction_id}-{target.version}-{reason or 'none'}"
    try:
        with errors_about(target.transaction_id):
            intent = processor.cancel_intent(target.ref, target.intent_id, reason, key)
    except InvalidState as error:
        intent = error.intent
    except OutcomeUnknown:
        return PaymentState(calls.apply_unanswered("cancel"))
    return PaymentState(_check_cancelled(calls.apply(intent, "cancel")), intent)


def _check_cancelled(payment: PosTransaction) -> PosTransaction:
    """Return the payment. Raises Conflict where money came, or may still come."""
    if payment.status in PAID_STATUSES:
        raise AlreadyCaptured(payment)
    if payment.status in (_S.CANCELLED, _S.FAILED):
        return payment
    raise Conflict(
        "The card is being charged just now. Look again in a moment.", "payment_processing", **_ids_of(payment)
    )


def _begin_calls(
    context: WorkContext, processor: PaymentProcessor, cashier: Cashier, payment: PosTransaction
) -> _PaymentCalls:
    """Return what the calls to the processor need, and end the database transaction, so that none is open from here
    on."""
    target = ref_of(payment)
    read_afresh()
    return _PaymentCalls(context, processor, cashier, target)


def _is_final(payment: PosTransaction) -> bool:
    return payment.status in PAID_STATUSES or payment.status in (_S.CANCELLED, _S.FAILED)


def capture_as_admin(
    context: WorkContext, author: Author, processor: PaymentProcessor, user_id: int, transaction_id: str
) -> TransactionStatus:
    """Capture an authorised payment, as the till does; return its status, UNKNOWN where the processor did not answer.
    Raises NotFound, Conflict where nothing is held, Declined and ProcessorError."""
    cashier, intent_id = _admin_at_location(author, processor, user_id, transaction_id)
    state = capture(context, processor, cashier, intent_id)
    return _record_action(context, author, state, "pos.capture", "Captured a card payment")


def cancel_as_admin(
    context: WorkContext, author: Author, processor: PaymentProcessor, user_id: int, transaction_id: str
) -> TransactionStatus:
    """Cancel a payment that waits for a card, or release what the card holds; return its status, UNKNOWN where the
    processor did not answer. Raises NotFound, Conflict where a card has paid meanwhile or the processor has no intent
    yet, and ProcessorError."""
    cashier, intent_id = _admin_at_location(author, processor, user_id, transaction_id)
    state = cancel(context, processor, cashier, intent_id, "requested_by_customer")
    return _record_action(context, author, state, "pos.cancel", "Cancelled a card payment")


def _admin_at_location(
    author: Author, processor: PaymentProcessor, user_id: int, transaction_id: str
) -> tuple[Cashier, str]:
    """Return an admin as cashier at the payment's location, and the id of the payment's intent. Raises NotFound and
    Conflict."""
    payment = payment_of_processor(author.site_id, processor, transaction_id)
    if payment.processor_intent_id is None:
        raise Conflict("The processor has not answered for this payment yet. Check it first.")
    return Cashier(author, user_id, None, payment.location_id, is_admin=True), payment.processor_intent_id


def _record_action(
    context: WorkContext, author: Author, state: PaymentState, action: str, summary: str
) -> TransactionStatus:
    """Record the action in the activity log, and return the payment's status."""
    transaction_id, status = state.payment.id, TransactionStatus(state.payment.status)
    context.commit(lambda: activity.record(author, action, ("pos_transaction", transaction_id), summary))
    return status


def _ids_of(payment: PosTransaction) -> dict[str, object]:
    return {"transactionId": payment.id, "paymentIntentId": payment.processor_intent_id}
