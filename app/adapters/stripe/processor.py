"""The port to a payment processor, over Stripe's API."""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from typing import Any, TypeVar

from stripe import RequestOptions
from stripe.params import (
    PaymentIntentCancelParams,
    PaymentIntentCreateParams,
    PaymentIntentListParams,
    RefundCreateParams,
)
from stripe.params.terminal import ConnectionTokenCreateParams, LocationCreateParams

from app.adapters.sent_fields import flag, parts, text
from app.adapters.stripe.client import PAUSE_SECONDS, READ_SECONDS, Send, make_client, request_answer
from app.adapters.stripe.objects import event_of, intent_of, refund_of
from app.domain.pos.processor import (
    NOTHING,
    AccountRef,
    Address,
    Intent,
    IntentRequest,
    InvalidState,
    OutcomeUnknown,
    ProcessorError,
    ProcessorEvent,
    Refund,
)

T = TypeVar("T")
CHARGE = ["latest_charge"]
PAGE = 100


class StripeProcessor:
    """The payment processor of the port, by Stripe. The account is sent with each request. `page` is the number of
    intents in a page of a list."""

    name = "stripe"

    def __init__(
        self,
        secret_key: str,
        webhook_secrets: Sequence[str],
        publishable_key: str | None = None,
        api_base: str | None = None,
        *,
        read_seconds: float = READ_SECONDS,
        pause: float = PAUSE_SECONDS,
        page: int = PAGE,
    ) -> None:
        self.live = secret_key.startswith(("sk_live", "rk_live"))
        self.publishable_key = publishable_key
        self._webhook_secrets = tuple(webhook_secrets)
        self._pause, self._page = pause, page
        self._api = make_client(secret_key, api_base, read_seconds).v1

    def create_connection_token(self, ref: AccountRef, location_id: str) -> str:
        params: ConnectionTokenCreateParams = {"location": location_id}
        options = _options(ref, str(uuid.uuid4()))
        return self._ask(lambda: self._api.terminal.connection_tokens.create(params, options), _text("secret"))

    def create_location(self, ref: AccountRef, display_name: str, address: Address) -> str:
        parts: Any = {name: value for name, value in asdict(address).items() if value}
        params: LocationCreateParams = {"display_name": display_name, "address": parts}
        options = _options(ref, str(uuid.uuid4()))
        return self._ask(lambda: self._api.terminal.locations.create(params, options), _text("id"))

    def create_intent(self, ref: AccountRef, request: IntentRequest, key: str) -> Intent:
        params: PaymentIntentCreateParams = {
            "amount": request.amount,
            "currency": request.currency,
            "allowed_payment_method_types": ["card_present"],
            "capture_method": "automatic",
            "metadata": dict(request.metadata),
            "expand": CHARGE,
        }
        if request.description:
            params["description"] = request.description
        return self._ask(lambda: self._api.payment_intents.create(params, _options(ref, key)), intent_of)

    def retrieve_intent(self, ref: AccountRef, intent_id: str) -> Intent:
        options = _options(ref)
        return self._ask(lambda: self._api.payment_intents.retrieve(intent_id, {"expand": CHARGE}, options), intent_of)

    def capture_intent(self, ref: AccountRef, intent_id: str, key: str) -> Intent:
        options = _options(ref, key)
        return self._change(ref, lambda: self._api.payment_intents.capture(intent_id, {"expand": CHARGE}, options))

    def cancel_intent(self, ref: AccountRef, intent_id: str, reason: str | None, key: str) -> Intent:
        params: PaymentIntentCancelParams = {"expand": CHARGE}
        if reason:
            params["cancellation_reason"] = reason
        return self._change(ref, lambda: self._api.payment_intents.cancel(intent_id, params, _options(ref, key)))

    def list_intents(self, ref: AccountRef, created_from: datetime, created_to: datetime) -> Iterator[Intent]:
        """Yield the intents created from one moment on and before another, the newest first. Stripe keeps whole
        seconds."""
        params: PaymentIntentListParams = {
            "created": {"gte": math.ceil(created_from.timestamp()), "lt": math.ceil(created_to.timestamp())},
            "limit": self._page,
            "expand": ["data.latest_charge"],
        }
        more = True
        while more:
            intents, more = self._ask(lambda: self._api.payment_intents.list(params, _options(ref)), _page_of_intents)
            yield from intents
            more = more and bool(intents)
            if more:
                params["starting_after"] = intents[-1].id

    def refund(
        self, ref: AccountRef, intent_id: str, amount: int | None, key: str, metadata: Mapping[str, str] = NOTHING
    ) -> Refund:
        params: RefundCreateParams = {"payment_intent": intent_id, "metadata": dict(metadata)}
        if amount is not None:
            params["amount"] = amount
        return self._ask(lambda: self._api.refunds.create(params, _options(ref, key)), refund_of)

    def retrieve_refund(self, ref: AccountRef, refund_id: str) -> Refund:
        return self._ask(lambda: self._api.refunds.retrieve(refund_id, {}, _options(ref)), refund_of)

    def parse_event(self, raw: bytes, headers: Mapping[str, str], now: datetime) -> ProcessorEvent:
        return event_of(raw, headers, now, self._webhook_secrets)

    def _change(self, ref: AccountRef, send: Send) -> Intent:
        try:
            return self._ask(send, intent_of)
        except InvalidState as error:
            raise InvalidState(str(error), self._retrieve_or(ref, error.intent)) from error

    def _retrieve_or(self, ref: AccountRef, seen: Intent) -> Intent:
        """Return an intent as it is now, or as it was `seen` in an error where it cannot be retrieved. Errors show it
        without the card of its receipt, and one that is replayed for its key shows it as it was."""
        with suppress(ProcessorError):
            return self.retrieve_intent(ref, seen.id)
        return seen

    def _ask(self, send: Send, read: Callable[[dict[str, Any]], T]) -> T:
        sent = request_answer(send, self._pause)
        try:
            return read(sent)
        except ValueError as error:
            raise OutcomeUnknown("Stripe’s answer cannot be read.") from error


def _options(ref: AccountRef, key: str | None = None) -> RequestOptions:
    options: RequestOptions = {}
    if ref.account_id:
        options["stripe_account"] = ref.account_id
    if key is not None:
        options["idempotency_key"] = key
    return options


def _text(name: str) -> Callable[[dict[str, Any]], str]:
    return lambda sent: text(sent, name)


def _page_of_intents(sent: dict[str, Any]) -> tuple[list[Intent], bool]:
    return [intent_of(intent) for intent in parts(sent, "data")], flag(sent, "has_more")
