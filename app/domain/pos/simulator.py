"""Functions of the payment simulator besides the port: the card reader, and its events as they are sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol, runtime_checkable

from app.domain.pos.processor import AccountRef, Intent, PaymentProcessor
from app.domain.pos.simulated_cards import SimulatedCard
from app.domain.shared.problems import Forbidden, Unprocessable


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
