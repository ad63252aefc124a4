"""What Stripe keeps for one account: locations, intents with their charges, refunds, and the events about them."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable
from typing import Any

from tests.fakes.stripe_cards import CARDS, Card
from tests.fakes.stripe_refusal import Refusal, missing

Object = dict[str, Any]
LEAST = 30
WAITING = "requires_payment_method"
CANCELLABLE = (WAITING, "requires_confirmation", "requires_action", "requires_capture")


class Ledger:
    """`account` is None for the platform's own. `ids` makes the ids of all accounts."""

    def __init__(self, account: str | None, ids: itertools.count, seconds: Callable[[], int]) -> None:
        self.account, self._ids, self._seconds = account, ids, seconds
        self.locations: dict[str, Object] = {}
        self.intents: dict[str, Object] = {}
        self.charges: dict[str, Object] = {}
        self.refunds: dict[str, Object] = {}
        self.events: list[Object] = []
        self._taking_nothing_back: set[str] = set()

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
        if "starting_after" in sent:
            after = [one["id"] for one in found].index(sent["starting_after"]) + 1
            found = found[after:]
        limit = int(sent.get("limit", 10))
        return {"object": "list", "url": "/v1/payment_intents", "has_more": len(found) > limit, "data": found[:limit]}

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
        else:
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
            "status": "succeeded",
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
            charge = self.charges[refund["charge"]]
            if charge["id"] in self._taking_nothing_back and refund["status"] == "succeeded":
                refund["status"] = "failed"
                charge["amount_refunded"] -= refund["amount"]
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


def _unexpected(intent: Object, done: str) -> Refusal:
    return Refusal(
        400,
        f"This PaymentIntent could not be {done} because it has a status of {intent['status']}.",
        "payment_intent_unexpected_state",
        payment_intent=copy.deepcopy(intent),
    )
