"""Simulated taps of a card: what a payment app does with the SDK of its card reader where the processor is a real one.
Call it outside a transaction."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from app.domain.pos.payments.cashier import Cashier, errors_about, own_payment_of_intent, ref_of
from app.domain.pos.processor import Intent, IntentNotFound, IntentStatus, InvalidState
from app.domain.pos.simulator import Delivery, PaymentSimulator, Tap, deliver_events
from app.domain.pos.webhooks import receive
from app.domain.shared.problems import Conflict, NotFound
from app.domain.work.context import WorkContext, read_afresh

NO_PAYMENT = "This location has no such payment."
OVER = {
    IntentStatus.SUCCEEDED: ("already_captured", "This payment was made already."),
    IntentStatus.CANCELED: ("payment_canceled", "This payment was cancelled."),
}


@dataclass(frozen=True, slots=True)
class PresentedCard:
    """The reader's answer: the intent after the tap, which may have been declined."""

    transaction_id: str
    intent: Intent


def present_card(
    context: WorkContext,
    simulator: PaymentSimulator,
    cashier: Cashier,
    intent_id: str,
    client_secret: str,
    tap: Tap,
) -> PresentedCard:
    """Hold a simulated card to the reader for a payment of the cashier. Raises NotFound, CardNotRead,
    WrongClientSecret, Conflict where no card is expected, and OutcomeUnknown."""
    payment = own_payment_of_intent(cashier, intent_id)
    if payment.processor != simulator.name:
        raise NotFound(NO_PAYMENT, "payment_intent_not_found")
    target = ref_of(payment)
    read_afresh()
    try:
        with errors_about(target.transaction_id):
            intent = simulator.present(target.ref, intent_id, client_secret, tap)
    except InvalidState as error:
        found = error.intent
        code, words = OVER.get(
            found.status, ("payment_processing", "A card is being charged for this payment already.")
        )
        raise Conflict(words, code, transactionId=target.transaction_id, paymentIntentId=found.id) from error
    except IntentNotFound as error:
        raise NotFound(NO_PAYMENT, "payment_intent_not_found") from error
    if tap.card.delivery is Delivery.FIRST:
        deliver_events(simulator, partial(receive, context, simulator))
    return PresentedCard(target.transaction_id, intent)
