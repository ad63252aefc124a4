"""Actions of staff on one payment in the admin: querying the processor now, capturing what a card holds, cancelling.
Call these outside a transaction; errors of the processor are raised as they come."""

from __future__ import annotations

from app.domain.pos.models import PosTransaction
from app.domain.pos.payments import payment_actions
from app.domain.pos.payments.cashier import Cashier
from app.domain.pos.payments.payment_actions import PaymentState
from app.domain.pos.payments.transitions import apply_intent
from app.domain.pos.processor import AccountRef, PaymentProcessor
from app.domain.pos.reconciliation.status_updates import DuePayment, listed_intents, settle_payment
from app.domain.pos.states import TransactionStatus
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict
from app.domain.shared.records import existing, find_record
from app.domain.sites import audit
from app.domain.work.context import WorkContext, read_afresh


def check_now(context: WorkContext, author: Author, processor: PaymentProcessor, transaction_id: str) -> bool:
    """Apply the processor's current state of a payment; return whether its status changed. Raises NotFound, Conflict
    and ProcessorError."""
    known = _payment(author, processor, transaction_id)
    before, due = known.status, DuePayment.of(known)
    read_afresh()
    if due.intent_id is None:
        listed = listed_intents(context, processor, due.account_id, [due])
        settle_payment(context, processor, due, listed)
    else:
        intent = processor.retrieve_intent(AccountRef(due.account_id), due.intent_id)
        context.commit(lambda: apply_intent(author, transaction_id, intent, "check"))
    read_afresh()
    return _payment(author, processor, transaction_id).status != before


def capture(
    context: WorkContext, author: Author, processor: PaymentProcessor, user_id: int, transaction_id: str
) -> TransactionStatus:
    """Capture an authorised payment, as the till does; return its status, UNKNOWN where the processor did not answer.
    Raises NotFound, Conflict where nothing is held, Declined and ProcessorError."""
    cashier, intent_id = _at_its_location(author, processor, user_id, transaction_id)
    state = payment_actions.capture(context, processor, cashier, intent_id)
    return _noted(context, author, state, "pos.capture", "Captured a card payment")


def cancel(
    context: WorkContext, author: Author, processor: PaymentProcessor, user_id: int, transaction_id: str
) -> TransactionStatus:
    """Cancel a payment that waits for a card, or release what the card holds; return its status, UNKNOWN where the
    processor did not answer. Raises NotFound, Conflict where a card has paid meanwhile or the processor has no intent
    yet, and ProcessorError."""
    cashier, intent_id = _at_its_location(author, processor, user_id, transaction_id)
    state = payment_actions.cancel(context, processor, cashier, intent_id, "requested_by_customer")
    return _noted(context, author, state, "pos.cancel", "Cancelled a card payment")


def _at_its_location(
    author: Author, processor: PaymentProcessor, user_id: int, transaction_id: str
) -> tuple[Cashier, str]:
    """Return an admin as cashier at the payment's location, and the id of the payment's intent. Raises NotFound and
    Conflict."""
    known = _payment(author, processor, transaction_id)
    if known.processor_intent_id is None:
        raise Conflict("The processor has not answered for this payment yet. Check it first.")
    return Cashier(author, user_id, None, known.location_id, is_admin=True), known.processor_intent_id


def _noted(context: WorkContext, author: Author, state: PaymentState, action: str, summary: str) -> TransactionStatus:
    """Record the action in the activity log, and return the payment's status."""
    transaction_id, status = state.payment.id, TransactionStatus(state.payment.status)
    context.commit(lambda: audit.record(author, action, ("pos_transaction", transaction_id), summary))
    return status


def _payment(author: Author, processor: PaymentProcessor, transaction_id: str) -> PosTransaction:
    known = existing(find_record(PosTransaction, author.site_id, transaction_id), "There is no such payment.")
    if known.processor != processor.name:
        raise Conflict(f"This payment was made with {known.processor.capitalize()}, which the shop does not use now.")
    return known
