"""The cards of the payment simulator, each with what it does, and the amounts that its issuer declines: pure.

Source: the table of the payments contract (docs/payments.md), after Stripe's test cards, whose last digits they have.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from app.domain.pos.processor import CardDetails, IntentStatus, PaymentError


class Answer(StrEnum):
    """What becomes of the reader's answer."""

    ARRIVES = "arrives"
    IS_LOST = "is lost"
    NEVER_MADE = "never made"  # The request itself was lost: nothing happened.


class Delivery(StrEnum):
    """The way in which the event of a payment reaches the shop."""

    ONCE = "once"
    LATE = "late"
    TWICE = "twice"
    FIRST = "first"  # Before the answer of the reader.
    OUT_OF_ORDER = "out of order"


@dataclass(frozen=True, slots=True)
class SimulatedCard:
    """A card and what it does. `declines` is the issuer's refusal, only of the first tap when it `pays_at_second_tap`.
    `becomes` is the status of the intent once the issuer agreed. `unreadable` is the code and the reason why the reader
    records no attempt."""

    name: str
    last4: str
    brand: str = "visa"
    funding: str = "credit"
    declines: PaymentError | None = None
    pays_at_second_tap: bool = False
    asks_for_pin: bool = False
    becomes: IntentStatus = IntentStatus.SUCCEEDED
    answer: Answer = Answer.ARRIVES
    delivery: Delivery = Delivery.ONCE
    unreadable: tuple[str, str] | None = None
    refunds_fail: bool = False

    def issuer_declines(self, amount: int, pin: str | None, is_second_tap: bool) -> PaymentError | None:
        """Return why the issuer declines this tap; None when it agrees."""
        if self.declines and not (self.pays_at_second_tap and is_second_tap):
            return self.declines
        if self.asks_for_pin and pin != PIN:
            return _declined("incorrect_pin")
        return DECLINED_ENDINGS.get(amount % 100)

    def details(self, has_pin: bool, authorization: str) -> CardDetails:
        """Return the details of the card as a receipt shows them. `authorization` is the issuer's code."""
        application, label = APPLICATIONS[self.brand]
        emv = {
            "applicationPreferredName": f"{label} {self.funding}".title(),
            "dedicatedFileName": application,
            "authorizationCode": authorization,
            "cardholderVerificationMethod": "online_pin" if has_pin else "none",
            "accountType": self.funding,
        }
        return CardDetails(self.brand, self.last4, self.funding, read_method="contactless_emv", emv=emv)


def _declined(reason: str) -> PaymentError:
    return PaymentError("card_declined", reason)


PIN = "1234"
APPLICATIONS = {
    "visa": ("A0000000031010", "Visa"),
    "mastercard": ("A0000000041010", "Mastercard"),
    "amex": ("A000000025010801", "American Express"),
}
DECLINED_ENDINGS = {
    1: _declined("call_issuer"),
    5: _declined("generic_decline"),
    55: _declined("incorrect_pin"),
    65: _declined("withdrawal_count_limit_exceeded"),
    75: _declined("pin_try_exceeded"),
}
CARDS = {
    card.name: card
    for card in (
        SimulatedCard("visa", "4242"),
        SimulatedCard("mastercard", "4444", brand="mastercard"),
        SimulatedCard("amex", "0005", brand="amex"),
        SimulatedCard("debit", "5556", funding="debit"),
        SimulatedCard("declined", "0002", declines=_declined("generic_decline")),
        SimulatedCard("insufficient", "9995", declines=_declined("insufficient_funds")),
        SimulatedCard("lost", "9987", declines=_declined("lost_card")),
        SimulatedCard("stolen", "9979", declines=_declined("stolen_card")),
        SimulatedCard("expired", "0069", declines=PaymentError("expired_card", "expired_card")),
        SimulatedCard("processing_error", "0119", declines=PaymentError("processing_error", "processing_error")),
        SimulatedCard("pin_required", "0008", asks_for_pin=True),
        SimulatedCard("sca_retry", "0075", declines=_declined("authentication_required"), pays_at_second_tap=True),
        SimulatedCard("slow", "4242", becomes=IntentStatus.PROCESSING),
        SimulatedCard("lost_response", "4242", answer=Answer.IS_LOST),
        SimulatedCard("timeout_not_charged", "4242", answer=Answer.NEVER_MADE),
        SimulatedCard("stuck_capture", "4242", becomes=IntentStatus.REQUIRES_CAPTURE),
        SimulatedCard("late_event", "4242", delivery=Delivery.LATE),
        SimulatedCard("duplicate_event", "4242", delivery=Delivery.TWICE),
        SimulatedCard("event_first", "4242", delivery=Delivery.FIRST),
        SimulatedCard("out_of_order", "4242", delivery=Delivery.OUT_OF_ORDER),
        SimulatedCard("removed_early", "4242", unreadable=("card_removed_early", "The card was taken away too early.")),
        SimulatedCard("reader_offline", "4242", unreadable=("reader_offline", "The card reader is offline.")),
        SimulatedCard("refund_fail", "5126", refunds_fail=True),
    )
}
