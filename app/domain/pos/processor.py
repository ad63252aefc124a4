"""The port to a payment processor. Every call names the account it acts for, so that no call of one site reaches the
money of another. Amounts are in minor units; currencies are ISO 4217 codes in lower case.

Source of the statuses and of what a processor promises: the PaymentIntent of Stripe's API, which the specification's
fields follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Protocol

from app.domain.shared.problems import DomainError

NOTHING: Mapping[str, str] = MappingProxyType({})
# The fields of a card's chip that a receipt must show (EMV, and the rules of card schemes), by name in `emv`.
RECEIPT_FIELDS = (
    ("applicationPreferredName", "Application"),
    ("dedicatedFileName", "AID"),
    ("authorizationCode", "Authorisation code"),
    ("cardholderVerificationMethod", "Verified by"),
    ("accountType", "Account type"),
)


class IntentStatus(StrEnum):
    REQUIRES_PAYMENT_METHOD = "requires_payment_method"
    REQUIRES_CONFIRMATION = "requires_confirmation"
    REQUIRES_ACTION = "requires_action"
    PROCESSING = "processing"
    REQUIRES_CAPTURE = "requires_capture"
    CANCELED = "canceled"
    SUCCEEDED = "succeeded"


class RefundStatus(StrEnum):
    PENDING = "pending"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELED = "canceled"


@dataclass(frozen=True, slots=True)
class AccountRef:
    """The processor's account that a call acts for: "" is the platform's own."""

    account_id: str = ""


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a location. `country` is an ISO 3166-1 alpha-2 code, the one part that processors require."""

    line1: str = ""
    line2: str = ""
    city: str = ""
    state: str = ""
    postal_code: str = ""
    country: str = ""


@dataclass(frozen=True, slots=True)
class IntentRequest:
    """A card payment to collect; `metadata` holds the shop's own keys besides the client's."""

    amount: int
    currency: str
    description: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CardDetails:
    """The details that a card-present receipt must show. `emv` holds the fields of the chip, by the names of
    RECEIPT_FIELDS."""

    brand: str = ""
    last4: str = ""
    funding: str = ""
    read_method: str = ""
    wallet: str = ""
    emv: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PaymentError:
    """The reason why the last try of an intent failed: the processor's code, and the issuer's where that declined.
    `charge_id` is of the charge that failed, which distinguishes one try from the next."""

    code: str
    decline_code: str = ""
    charge_id: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Intent:
    """A payment as the processor has it now. `client_secret` is never stored. `refunded` is of the charge."""

    id: str
    amount: int
    currency: str
    status: IntentStatus
    created: datetime
    amount_received: int = 0
    refunded: int = 0
    charge_id: str = ""
    client_secret: str | None = None
    card: CardDetails | None = None
    last_error: PaymentError | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Refund:
    """A refund as the processor has it. `metadata` holds the id of the shop's own refund (`refundId`), which one made
    elsewhere lacks."""

    id: str
    intent_id: str
    amount: int
    status: RefundStatus
    metadata: Mapping[str, str] = field(default_factory=dict)


class ReaderStatus(StrEnum):
    ONLINE = "online"
    OFFLINE = "offline"


class ReaderActionStatus(StrEnum):
    IN_PROGRESS = "in_progress"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ReaderAction:
    """What a smart reader does or did last. `type` is the processor's word, as "process_payment_intent"; `intent_id` is
    None for an action without a payment. The codes of a failure are the processor's."""

    type: str
    status: ReaderActionStatus
    intent_id: str | None = None
    failure_code: str | None = None
    failure_message: str | None = None

    @property
    def is_in_progress(self) -> bool:
        return self.status is ReaderActionStatus.IN_PROGRESS


@dataclass(frozen=True, slots=True)
class Reader:
    """A smart reader: one that the processor drives over the network. `location_id` is "" where it has no location.
    `action` is None for a reader that did nothing yet, or whose action was cancelled."""

    id: str
    label: str
    device_type: str
    status: ReaderStatus
    location_id: str = ""
    action: ReaderAction | None = None

    @property
    def is_busy(self) -> bool:
        return self.action is not None and self.action.is_in_progress

    def has_taken(self, intent_id: str) -> bool:
        """Whether it is collecting the payment of this intent, or has collected it."""
        action = self.action
        return action is not None and action.intent_id == intent_id and action.status is not ReaderActionStatus.FAILED


@dataclass(frozen=True, slots=True)
class ProcessorEvent:
    """An event that the processor sent: the account and the intent that it is about, and that intent as it was then,
    without its client secret."""

    id: str
    type: str
    account_id: str
    live: bool
    created: datetime
    intent_id: str | None = None
    intent: Intent | None = None
    refund: Refund | None = None


class ProcessorError(DomainError):
    """The processor did not do what was requested."""

    code = "processor_error"


class Declined(ProcessorError):
    """The card was refused; the same intent can be tried again."""

    code = "card_declined"

    def __init__(self, message: str, decline_code: str = "", intent: Intent | None = None) -> None:
        super().__init__(message)
        self.decline_code, self.intent = decline_code, intent


class InvalidState(ProcessorError):
    """The intent's state does not allow the call; `intent` is the intent as the processor has it."""

    def __init__(self, message: str, intent: Intent) -> None:
        super().__init__(message)
        self.intent = intent


class Rejected(ProcessorError):
    """The processor refused the request for good: repeating it changes nothing. `reason` is the processor's code."""

    def __init__(self, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason


class KeyReused(Rejected):
    """The key was used for another request, whose outcome this refusal does not reveal."""

    def __init__(self) -> None:
        super().__init__("This idempotency key was used for another request.", "idempotency_mismatch")


class IntentNotFound(ProcessorError):
    """The account has no such intent."""


class ReaderNotFound(ProcessorError):
    """The account has no such smart reader."""

    def __init__(self) -> None:
        super().__init__("The account has no such reader.")


class ReaderBusy(ProcessorError):
    """The reader does something else just now, so it did not begin this."""

    def __init__(self) -> None:
        super().__init__("The card reader is busy.")


class ReaderOffline(ProcessorError):
    """The processor cannot reach the reader, so it did not begin this."""

    def __init__(self) -> None:
        super().__init__("The card reader is offline.")


class Misconfigured(ProcessorError):
    """The key, its permissions or the location are wrong: an admin must correct them."""

    code = "processor_misconfigured"


class Busy(ProcessorError):
    """The processor did nothing; try again after `retry_after` seconds."""

    code = "processor_unavailable"

    def __init__(self, message: str, retry_after: int = 2) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class OutcomeUnknown(ProcessorError):
    """The processor gave no conclusive answer: the request may have been carried out. Repeat it with the same key, or
    read the intent."""

    code = "processor_timeout"


class BadSignature(ProcessorError):
    """The event is not signed by the processor, or was signed too long before or after now."""

    code = "bad_signature"


class MalformedEvent(BadSignature):
    """The event is signed, and none that the processor would send: nothing can be done with it."""

    code = "malformed_event"


class PaymentProcessor(Protocol):
    """A payment processor. `name` is stored with each transaction. `live` says whether real money moves: events of the
    other mode are ignored. Every method raises ProcessorError; `key` is an idempotency key: repeated with the same key,
    a call is carried out once and gets the same answer for at least 24 hours."""

    name: str
    live: bool
    publishable_key: str | None

    def create_connection_token(self, ref: AccountRef, location_id: str) -> str: ...

    def create_location(self, ref: AccountRef, display_name: str, address: Address) -> str:
        """Return the processor's id of a new location."""
        ...

    def create_intent(self, ref: AccountRef, request: IntentRequest, key: str) -> Intent:
        """Create a card-present intent that is captured automatically after the tap."""
        ...

    def retrieve_intent(self, ref: AccountRef, intent_id: str) -> Intent: ...

    def capture_intent(self, ref: AccountRef, intent_id: str, key: str) -> Intent: ...

    def cancel_intent(self, ref: AccountRef, intent_id: str, reason: str | None, key: str) -> Intent:
        """Cancel an intent. `reason`: duplicate, fraudulent, requested_by_customer, abandoned or None."""
        ...

    def list_intents(self, ref: AccountRef, created_from: datetime, created_to: datetime) -> Iterator[Intent]:
        """Yield every intent created in the half-open window, page by page."""
        ...

    def refund(
        self, ref: AccountRef, intent_id: str, amount: int | None, key: str, metadata: Mapping[str, str] = NOTHING
    ) -> Refund:
        """Refund an amount of an intent, or all that is left where it is None."""
        ...

    def retrieve_refund(self, ref: AccountRef, refund_id: str) -> Refund: ...

    def list_readers(self, ref: AccountRef, location_id: str) -> list[Reader]:
        """Return the smart readers of a location, none where the processor has no such readers."""
        ...

    def retrieve_reader(self, ref: AccountRef, reader_id: str) -> Reader:
        """Raises ReaderNotFound."""
        ...

    def process_intent(self, ref: AccountRef, reader_id: str, intent_id: str, key: str) -> Reader:
        """Let a reader collect a payment; it waits for the card after this. A payment is charged once, however often it
        is given to readers. Raises ReaderNotFound, IntentNotFound, ReaderBusy, ReaderOffline, InvalidState where the
        intent waits for no card, and OutcomeUnknown where the reader did not answer in time."""
        ...

    def cancel_reader_action(self, ref: AccountRef, reader_id: str) -> Reader:
        """Stop what a reader does; its payment stays open. Raises ReaderNotFound, ReaderOffline, and ReaderBusy while a
        card is being charged."""
        ...

    def parse_event(self, raw: bytes, headers: Mapping[str, str], now: datetime) -> ProcessorEvent:
        """Verify the signature on the raw bytes, and that it was made within 300 seconds of `now`, before or after.
        Raises BadSignature, and MalformedEvent for a body of other types than the processor's."""
        ...


class NoProcessor:
    """The processor where none is set up: it has no smart readers, all other calls raise Misconfigured, `parse_event`
    BadSignature."""

    name = "none"
    live = False
    publishable_key: str | None = None

    def create_connection_token(self, ref: AccountRef, location_id: str) -> str:
        raise _not_set_up()

    def create_location(self, ref: AccountRef, display_name: str, address: Address) -> str:
        raise _not_set_up()

    def create_intent(self, ref: AccountRef, request: IntentRequest, key: str) -> Intent:
        raise _not_set_up()

    def retrieve_intent(self, ref: AccountRef, intent_id: str) -> Intent:
        raise _not_set_up()

    def capture_intent(self, ref: AccountRef, intent_id: str, key: str) -> Intent:
        raise _not_set_up()

    def cancel_intent(self, ref: AccountRef, intent_id: str, reason: str | None, key: str) -> Intent:
        raise _not_set_up()

    def list_intents(self, ref: AccountRef, created_from: datetime, created_to: datetime) -> Iterator[Intent]:
        raise _not_set_up()

    def refund(
        self, ref: AccountRef, intent_id: str, amount: int | None, key: str, metadata: Mapping[str, str] = NOTHING
    ) -> Refund:
        raise _not_set_up()

    def retrieve_refund(self, ref: AccountRef, refund_id: str) -> Refund:
        raise _not_set_up()

    def list_readers(self, ref: AccountRef, location_id: str) -> list[Reader]:
        return []

    def retrieve_reader(self, ref: AccountRef, reader_id: str) -> Reader:
        raise ReaderNotFound

    def process_intent(self, ref: AccountRef, reader_id: str, intent_id: str, key: str) -> Reader:
        raise ReaderNotFound

    def cancel_reader_action(self, ref: AccountRef, reader_id: str) -> Reader:
        raise ReaderNotFound

    def parse_event(self, raw: bytes, headers: Mapping[str, str], now: datetime) -> ProcessorEvent:
        raise BadSignature("No payment processor is set up.")


def _not_set_up() -> Misconfigured:
    return Misconfigured("No payment processor is set up.")
