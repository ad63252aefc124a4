"""The port to the payment simulator: its cards, the card reader, and its events as they are sent. Pure.

Source of the cards: the table of the payments contract (docs/payments.md), after Stripe's test cards, whose last digits
they have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Protocol, runtime_checkable

from app.domain.pos.processor import AccountRef, CardDetails, Intent, IntentStatus, PaymentError, PaymentProcessor
from app.domain.shared.problems import Forbidden, Unprocessable


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
            return _card_declined("incorrect_pin")
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


@dataclass(frozen=True, slots=True)
class Tap:
    """A card held to the reader, and the PIN where the reader was given one."""

    card: SimulatedCard
    pin: str | None = None


@dataclass(frozen=True, slots=True)
class SentEvent:
    """An event as the shop receives it. `number` names it to the simulator."""

    number: int
    raw: bytes
    headers: Mapping[str, str]


class CardNotRead(Unprocessable):
    """The reader could not read the card, so that no attempt was recorded; `code` says why."""

    code = "card_not_read"


class WrongClientSecret(Forbidden):
    """The client secret is not that of the payment."""

    code = "client_secret_invalid"


@runtime_checkable
class PaymentSimulator(PaymentProcessor, Protocol):
    """A processor that stands for the card reader as well."""

    def present(self, ref: AccountRef, intent_id: str, client_secret: str, tap: Tap) -> Intent:
        """Tap a card. A refusal of the issuer is the intent's `last_error`. Raises CardNotRead, WrongClientSecret,
        InvalidState when no card is expected, and OutcomeUnknown."""
        ...

    def due_events(self, waited: timedelta) -> list[SentEvent]:
        """Return the events that have been due for at least `waited`, in the order in which they fell due, signed
        now."""
        ...

    def note_delivered(self, number: int) -> None: ...

    def note_failed(self, number: int) -> None:
        """Note that an event could not be delivered: it is sent again after a pause, for three days."""
        ...


Receive = Callable[[bytes, Mapping[str, str]], object]


def deliver_events(simulator: PaymentSimulator, receive: Receive, waited: timedelta = timedelta(0)) -> list[Exception]:
    """Send the due events to the shop, each at least once; return the errors of those that failed and are sent again
    later."""
    errors = []
    for event in simulator.due_events(waited):
        try:
            receive(event.raw, event.headers)
        except Exception as error:  # The failure of one event must not keep the others from being sent.
            errors.append(error)
            simulator.note_failed(event.number)
        else:
            simulator.note_delivered(event.number)
    return errors


def _card_declined(reason: str) -> PaymentError:
    return PaymentError("card_declined", reason)


PIN = "1234"

APPLICATIONS = {
    "visa": ("A0000000031010", "Visa"),
    "mastercard": ("A0000000041010", "Mastercard"),
    "amex": ("A000000025010801", "American Express"),
}

DECLINED_ENDINGS = {
    1: _card_declined("call_issuer"),
    5: _card_declined("generic_decline"),
    55: _card_declined("incorrect_pin"),
    65: _card_declined("withdrawal_count_limit_exceeded"),
    75: _card_declined("pin_try_exceeded"),
}

CARDS = {
    card.name: card
    for card in (
        SimulatedCard("visa", "4242"),
        SimulatedCard("mastercard", "4444", brand="mastercard"),
        SimulatedCard("amex", "0005", brand="amex"),
        SimulatedCard("debit", "5556", funding="debit"),
        SimulatedCard("declined", "0002", declines=_card_declined("generic_decline")),
        SimulatedCard("insufficient", "9995", declines=_card_declined("insufficient_funds")),
        SimulatedCard("lost", "9987", declines=_card_declined("lost_card")),
        SimulatedCard("stolen", "9979", declines=_card_declined("stolen_card")),
        SimulatedCard("expired", "0069", declines=PaymentError("expired_card", "expired_card")),
        SimulatedCard("processing_error", "0119", declines=PaymentError("processing_error", "processing_error")),
        SimulatedCard("pin_required", "0008", asks_for_pin=True),
        SimulatedCard("sca_retry", "0075", declines=_card_declined("authentication_required"), pays_at_second_tap=True),
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
