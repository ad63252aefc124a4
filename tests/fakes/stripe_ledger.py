"""Stripe's books: what it keeps for one account (locations, intents with their charges, refunds, and the events about
them), the cards that customers of a test tap, by the names that the shop's simulator has for them, and its refusals."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Object = dict[str, Any]
LEAST = 30
WAITING = "requires_payment_method"
CANCELLABLE = (WAITING, "requires_confirmation", "requires_action", "requires_capture")


class Refusal(Exception):
    """An answer of Stripe's that is an error."""

    def __init__(
        self, status: int, message: str, code: str | None = None, param: str | None = None, **more: Any
    ) -> None:
        super().__init__(message)
        self.status = status
        named = {"code": code, "param": param}
        self.error = {
            "type": "invalid_request_error",
            "message": message,
            **{name: value for name, value in named.items() if value is not None},
            **more,
        }

    @property
    def is_kept(self) -> bool:
        """Whether a repeated idempotency key gets it again. What never began is not kept: a failed validation, or a
        conflict with another request."""
        began = self.status in (402, 500) or self.error.get("code") == "payment_intent_unexpected_state"
        return began


def missing(kind: str, param: str, value: str) -> Refusal:
    return Refusal(404, f"No such {kind}: '{value}'", "resource_missing", param)


def page(found: list[Object], sent: Object, url: str) -> Object:
    """A page of a list."""
    if "starting_after" in sent:
        after = [one["id"] for one in found].index(sent["starting_after"]) + 1
        found = found[after:]
    limit = int(sent.get("limit", 10))
    return {"object": "list", "url": url, "has_more": len(found) > limit, "data": found[:limit]}


@dataclass(frozen=True, slots=True)
class Card:
    """`code` and `decline_code` of one that is declined. `held` leaves the intent in requires_capture, `slow` in
    processing, until `finish`."""

    last4: str
    brand: str = "visa"
    funding: str = "credit"
    code: str = ""
    decline_code: str = ""
    held: bool = False
    slow: bool = False
    refunds_fail: bool = False

    def details(self) -> dict[str, Any]:
        """`payment_method_details` of a charge."""
        receipt = {
            "account_type": self.funding,
            "application_cryptogram": "D8B1A2C3E4F50617",
            "application_preferred_name": f"{self.brand.title()} {self.funding}".upper(),
            "authorization_code": "123456",
            "authorization_response_code": "3030",
            "cardholder_verification_method": "none",
            "dedicated_file_name": "A0000000031010",
            "terminal_verification_results": "0000000000",
            "transaction_status_information": "0000",
        }
        return {
            "type": "card_present",
            "card_present": {
                "brand": self.brand,
                "cardholder_name": "DOE/JANE",
                "country": "GB",
                "funding": self.funding,
                "last4": self.last4,
                "network": self.brand,
                "read_method": "contactless_emv",
                "receipt": receipt,
                "wallet": {"type": "unknown"},
            },
        }


CARDS = {
    "visa": Card("4242"),
    "mastercard": Card("4444", "mastercard"),
    "amex": Card("0005", "amex"),
    "debit": Card("5556", funding="debit"),
    "declined": Card("0002", code="card_declined", decline_code="generic_decline"),
    "insufficient": Card("9995", code="card_declined", decline_code="insufficient_funds"),
    "lost": Card("9987", code="card_declined", decline_code="lost_card"),
    "stolen": Card("9979", code="card_declined", decline_code="stolen_card"),
    "expired": Card("0069", code="expired_card", decline_code="expired_card"),
    "processing_error": Card("0119", code="processing_error", decline_code="processing_error"),
    "stuck_capture": Card("4242", held=True),
    "slow": Card("4242", slow=True),
    "refund_fail": Card("5126", refunds_fail=True),
}


class Ledger:
    """`account` is None for the platform's own. `ids` makes the ids of all accounts."""

    def __init__(self, account: str | None, ids: itertools.count, seconds: Callable[[], int]) -> None:
        self.account, self._ids, self._seconds = account, ids, seconds
        self.locations: dict[str, Object] = {}
        self.readers: dict[str, Object] = {}
        self.intents: dict[str, Object] = {}
        self.charges: dict[str, Object] = {}
        self.refunds: dict[str, Object] = {}
        self.events: list[Object] = []
        self.refund_status = "succeeded"  # Of the refunds from now on.
        self._taking_nothing_back: set[str] = set()
        self._authorising: set[str] = set()  # Readers to which a card is being held.

    # Readers

    def create_location(self, sent: Object) -> Object:
        if "country" not in sent.get("address", {}):
            raise Refusal(400, "Missing required param: address[country].", "parameter_missing", "address[country]")
        made = {"id": self._id("tml"), "object": "terminal.location", **sent}
        self.locations[made["id"]] = made
        return made

    def connection_token(self, sent: Object) -> Object:
        location = sent.get("location")
        if location is not None and location not in self.locations:
            raise missing("location", "location", location)
        token = {"object": "terminal.connection_token", "secret": self._id("pst")}
        return token | ({"location": location} if location else {})

    def add_reader(self, location: str, label: str = "Counter", **more: Any) -> str:
        """Register a smart reader, as the owner does in Stripe's Dashboard; return its id."""
        self.locations.setdefault(location, {"id": location})
        number = self._id("tmr")
        self.readers[number] = {
            "id": number,
            "object": "terminal.reader",
            "action": None,
            "device_type": "stripe_s700",
            "label": label,
            "livemode": False,
            "location": location,
            "status": "online",
            **more,
        }
        return number

    def list_readers(self, sent: Object) -> Object:
        """Newest first."""
        if sent["location"] not in self.locations:
            raise missing("location", "location", sent["location"])
        found = [one for one in reversed(self.readers.values()) if one["location"] == sent["location"]]
        return page(found, sent, "/v1/terminal/readers")

    def retrieve_reader(self, number: str, _sent: Object) -> Object:
        if number not in self.readers:
            raise missing("reader", "reader", number)
        return self.readers[number]

    def process_intent(self, number: str, sent: Object) -> Object:
        """A reader takes one payment at a time; the same one again is shown anew."""
        reader, intent = self._reachable(number), self.intent(sent["payment_intent"], "payment_intent")
        if intent["status"] != WAITING:
            raise Refusal(400, "The PaymentIntent must be in requires_payment_method.", "intent_invalid_state")
        action = reader["action"]
        if action and action["status"] == "in_progress" and _intent_of(action) != intent["id"]:
            raise _busy_reader()
        reader["action"] = {
            "type": "process_payment_intent",
            "status": "in_progress",
            "failure_code": None,
            "failure_message": None,
            "process_payment_intent": {"payment_intent": intent["id"], "process_config": {}},
        }
        return reader

    def cancel_action(self, number: str, _sent: Object) -> Object:
        reader = self._reachable(number)
        if number in self._authorising:
            raise _busy_reader()
        reader["action"] = None
        return reader

    def hold_card(self, number: str) -> None:
        """A customer holds a card to the reader, which nothing stops from now on, until `present`."""
        self._authorising.add(number)

    def present(self, number: str, name: str = "visa") -> None:
        """A customer taps a card on the reader, which charges it and reports that."""
        self._authorising.discard(number)
        intent = self.intent(_intent_of(self.readers[number]["action"]))
        try:
            self.tap(intent["id"], name)
        except Refusal as refusal:
            self._end_action(number, "intent_invalid_state", str(refusal))
            return
        error = intent["last_payment_error"] or {}
        self._end_action(number, error.get("code"), error.get("message"))

    def leave_reader(self, number: str) -> None:
        """The customer goes away without an attempt, and the reader waits no longer."""
        self._end_action(number, "customer_canceled", "The customer cancelled.")

    def _end_action(self, number: str, code: str | None, message: str | None) -> None:
        reader, outcome = self.readers[number], "failed" if code else "succeeded"
        reader["action"] |= {"status": outcome, "failure_code": code, "failure_message": message}
        self._publish(f"terminal.reader.action_{outcome}", reader)

    def _reachable(self, number: str) -> Object:
        reader = self.retrieve_reader(number, {})
        if reader["status"] != "online":
            raise Refusal(400, "Reader is currently offline.", "terminal_reader_offline")
        return reader

    # Intents

    def create_intent(self, sent: Object) -> Object:
        amount = int(sent["amount"])
        if amount < LEAST:
            raise Refusal(400, "Amount must be at least £0.30 gbp", "amount_too_small", "amount")
        if amount > 99_999_999:
            raise Refusal(400, "Amount must be no more than £999,999.99", "amount_too_large", "amount")
        intent = self._new_intent(sent, amount)
        self.intents[intent["id"]] = intent
        self._publish("payment_intent.created", intent)
        return intent

    def _new_intent(self, sent: Object, amount: int) -> Object:
        number = self._id("pi")
        return {
            "id": number,
            "object": "payment_intent",
            "amount": amount,
            "amount_capturable": 0,
            "amount_received": 0,
            "cancellation_reason": None,
            "canceled_at": None,
            "capture_method": sent.get("capture_method", "automatic_async"),
            "client_secret": f"{number}_secret_{self._id('x')}",
            "created": self._seconds(),
            "currency": sent["currency"],
            "description": sent.get("description"),
            "last_payment_error": None,
            "latest_charge": None,
            "livemode": False,
            "metadata": sent.get("metadata", {}),
            "payment_method_types": sent.get("allowed_payment_method_types", ["card"]),
            "status": WAITING,
        }

    def intent(self, number: str, param: str = "intent") -> Object:
        if number not in self.intents:
            raise missing("payment_intent", param, number)
        return self.intents[number]

    def list_intents(self, sent: Object) -> Object:
        """Newest first."""
        window = sent.get("created", {})
        begin, end = int(window.get("gte", 0)), int(window.get("lt", 2**40))
        found = [one for one in reversed(self.intents.values()) if begin <= one["created"] < end]
        return page(found, sent, "/v1/payment_intents")

    def tap(self, number: str, card_name: str = "visa") -> None:
        """A customer taps a card on the reader that collects this intent."""
        intent, card = self.intent(number), CARDS[card_name]
        if intent["status"] != WAITING:
            raise _unexpected(intent, "confirmed")
        charge = self._new_charge(intent, card)
        intent["latest_charge"] = charge["id"]
        if card.code:
            self._decline(intent, charge, card)
        elif card.held:
            intent |= {"status": "requires_capture", "amount_capturable": intent["amount"], "last_payment_error": None}
            self._publish("payment_intent.amount_capturable_updated", intent)
        elif card.slow:
            intent |= {"status": "processing", "last_payment_error": None}
            self._publish("payment_intent.processing", intent)
        else:
            self._capture(intent, charge)

    def finish(self, number: str) -> None:
        """What was being processed is paid, or money is taken after all."""
        intent = self.intent(number)
        charge = self.charges.get(intent["latest_charge"])
        if charge is None or charge["status"] == "failed":
            charge = self._new_charge(intent, CARDS["visa"])
        intent["latest_charge"] = charge["id"]
        self._capture(intent, charge)

    def _new_charge(self, intent: Object, card: Card) -> Object:
        charge = {
            "id": self._id("ch"),
            "object": "charge",
            "amount": intent["amount"],
            "amount_refunded": 0,
            "captured": False,
            "currency": intent["currency"],
            "payment_intent": intent["id"],
            "payment_method_details": card.details(),
            "status": "failed" if card.code else "succeeded",
        }
        self.charges[charge["id"]] = charge
        if card.refunds_fail:
            self._taking_nothing_back.add(charge["id"])
        return charge

    def _decline(self, intent: Object, charge: Object, card: Card) -> None:
        intent["last_payment_error"] = {
            "type": "card_error",
            "charge": charge["id"],
            "code": card.code,
            "decline_code": card.decline_code,
            "message": "Your card was declined.",
        }
        self._publish("payment_intent.payment_failed", intent)

    def _capture(self, intent: Object, charge: Object) -> None:
        charge["captured"] = True
        intent |= {
            "status": "succeeded",
            "amount_received": intent["amount"],
            "amount_capturable": 0,
            "last_payment_error": None,
        }
        self._publish("charge.succeeded", charge)
        self._publish("payment_intent.succeeded", intent)

    def retrieve_intent(self, number: str, _sent: Object) -> Object:
        return self.intent(number)

    def capture(self, number: str, _sent: Object) -> Object:
        intent = self.intent(number)
        if intent["status"] != "requires_capture":
            raise _unexpected(intent, "captured")
        self._capture(intent, self.charges[intent["latest_charge"]])
        return intent

    def cancel(self, number: str, sent: Object) -> Object:
        intent = self.intent(number)
        if intent["status"] not in CANCELLABLE:
            raise _unexpected(intent, "canceled")
        intent |= {
            "status": "canceled",
            "amount_capturable": 0,
            "canceled_at": self._seconds(),
            "cancellation_reason": sent.get("cancellation_reason"),
        }
        self._publish("payment_intent.canceled", intent)
        return intent

    # Refunds

    def create_refund(self, sent: Object) -> Object:
        intent = self.intent(sent["payment_intent"], "payment_intent")
        if intent["status"] != "succeeded":
            raise Refusal(400, f"This PaymentIntent ({intent['id']}) does not have a successful charge to refund.")
        charge = self.charges[intent["latest_charge"]]
        left = charge["amount"] - charge["amount_refunded"]
        amount = int(sent.get("amount", left))
        if not left:
            raise Refusal(400, f"Charge {charge['id']} has already been refunded.", "charge_already_refunded")
        if not 0 < amount <= left:
            raise Refusal(400, "Refund amount is greater than unrefunded amount on charge", param="amount")
        if self.refund_status in ("pending", "succeeded"):
            charge["amount_refunded"] += amount
        refund = self._new_refund(charge, amount, sent.get("metadata", {}))
        self._publish("refund.created", refund)
        self._publish("charge.refunded", charge)
        return refund

    def _new_refund(self, charge: Object, amount: int, metadata: Object) -> Object:
        refund = {
            "id": self._id("re"),
            "object": "refund",
            "amount": amount,
            "charge": charge["id"],
            "currency": charge["currency"],
            "metadata": metadata,
            "payment_intent": charge["payment_intent"],
            "status": self.refund_status,
        }
        self.refunds[refund["id"]] = refund
        return refund

    def retrieve_refund(self, number: str, _sent: Object) -> Object:
        if number not in self.refunds:
            raise missing("refund", "refund", number)
        return self.refunds[number]

    def fail_refunds(self) -> None:
        """The banks of cards that take no money back say so, which they do days later."""
        for refund in self.refunds.values():
            if refund["charge"] in self._taking_nothing_back and refund["status"] == "succeeded":
                self.fail_refund(refund)

    def fail_refund(self, refund: Object) -> None:
        refund["status"] = "failed"
        self.charges[refund["charge"]]["amount_refunded"] -= refund["amount"]
        self._publish("refund.failed", refund)
        self._publish("charge.refund.updated", refund)

    def _id(self, prefix: str) -> str:
        return f"{prefix}_{next(self._ids):06d}"

    def _publish(self, kind: str, about: Object) -> None:
        event = {
            "id": self._id("evt"),
            "object": "event",
            "api_version": "2026-10-28.endive",
            "created": self._seconds(),
            "data": {"object": copy.deepcopy(about)},
            "livemode": False,
            "pending_webhooks": 1,
            "request": {"id": None, "idempotency_key": None},
            "type": kind,
        }
        self.events.append(event | ({"account": self.account} if self.account else {}))


def _busy_reader() -> Refusal:
    return Refusal(400, "Reader is currently busy processing another request.", "terminal_reader_busy")


def _intent_of(action: Object) -> str:
    found: str = action["process_payment_intent"]["payment_intent"]
    return found


def _unexpected(intent: Object, done: str) -> Refusal:
    return Refusal(
        400,
        f"This PaymentIntent could not be {done} because it has a status of {intent['status']}.",
        "payment_intent_unexpected_state",
        payment_intent=copy.deepcopy(intent),
    )
