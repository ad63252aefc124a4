"""Stripe Terminal as the shop's payment processor. Importing this loads Stripe's SDK, which takes a while: do it where
it was chosen.

The SDK is set up for a till: it waits seconds rather than minutes, and says nothing about this machine. Its errors
become the port's by what they mean for the money: was it done, not done, or is it unknown.
"""

from __future__ import annotations

import logging
import math
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from typing import Any, TypeVar

import stripe
import structlog
from stripe import RequestOptions
from stripe.params import (
    PaymentIntentCancelParams,
    PaymentIntentCreateParams,
    PaymentIntentListParams,
    RefundCreateParams,
)
from stripe.params.terminal import ConnectionTokenCreateParams, LocationCreateParams, ReaderListParams

from app.adapters.stripe_objects import (
    event_of,
    flag,
    intent_of,
    part,
    parts,
    reader_of,
    refund_of,
    smart_reader_of,
    text,
)
from app.adapters.webhook import verify
from app.domain.pos.processor import (
    NOTHING,
    AccountRef,
    Address,
    BadSignature,
    Busy,
    Declined,
    Intent,
    IntentNotFound,
    IntentRequest,
    InvalidState,
    KeyReused,
    Misconfigured,
    OutcomeUnknown,
    ProcessorError,
    ProcessorEvent,
    Reader,
    ReaderBusy,
    ReaderNotFound,
    ReaderOffline,
    Refund,
    Rejected,
)

T = TypeVar("T")
Send = Callable[[], stripe.StripeObject]
CONNECT_SECONDS, READ_SECONDS = 3.0, 10.0
PAUSE_SECONDS = 0.3  # Before the second and last try.
RETRY_AFTER = 2  # Seconds, where Stripe does not say.
UNKNOWN = "Stripe did not say whether it was done."
# What the SDK raises itself for JSON of another shape than Stripe's, as where a gateway answers.
UNREADABLE = (RecursionError, AttributeError, TypeError, ValueError, LookupError)
CHARGE = ["latest_charge"]
WAITS_FOR_NO_CARD = "intent_invalid_state"
PAGE = 100
OF_READERS: dict[str, Callable[[], ProcessorError]] = {
    "terminal_reader_busy": ReaderBusy,
    "terminal_reader_offline": ReaderOffline,
    # The reader may have taken it all the same.
    "terminal_reader_timeout": lambda: OutcomeUnknown("The card reader did not answer in time."),
}
# Once for the process: no identifier in the home directory and none of this machine in the headers; and no line of the
# SDK below a warning, since it logs whole answers, which hold secrets.
stripe.enable_telemetry = False
logging.getLogger("stripe").setLevel(logging.WARNING)
log = structlog.get_logger()


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
        # The SDK repeats nothing by itself: its own retries hide that an earlier try may have been done.
        self._api = stripe.StripeClient(
            secret_key,
            base_addresses={"api": api_base} if api_base else {},
            http_client=stripe.RequestsClient(timeout=(CONNECT_SECONDS, read_seconds)),
            max_network_retries=0,
        ).v1

    def create_connection_token(self, ref: AccountRef, location_id: str) -> str:
        params: ConnectionTokenCreateParams = {"location": location_id}
        options = _options(ref, str(uuid.uuid4()))
        return self._request(
            lambda: self._api.terminal.connection_tokens.create(params, options), lambda sent: text(sent, "secret")
        )

    def create_location(self, ref: AccountRef, display_name: str, address: Address) -> str:
        parts: Any = {name: value for name, value in asdict(address).items() if value}
        params: LocationCreateParams = {"display_name": display_name, "address": parts}
        options = _options(ref, str(uuid.uuid4()))
        return self._request(
            lambda: self._api.terminal.locations.create(params, options), lambda sent: text(sent, "id")
        )

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
        return self._request(lambda: self._api.payment_intents.create(params, _options(ref, key)), intent_of)

    def retrieve_intent(self, ref: AccountRef, intent_id: str) -> Intent:
        options = _options(ref)
        return self._request(
            lambda: self._api.payment_intents.retrieve(intent_id, {"expand": CHARGE}, options), intent_of
        )

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
        yield from self._each(lambda: self._api.payment_intents.list(params, _options(ref)), params, intent_of)

    def refund(
        self, ref: AccountRef, intent_id: str, amount: int | None, key: str, metadata: Mapping[str, str] = NOTHING
    ) -> Refund:
        params: RefundCreateParams = {"payment_intent": intent_id, "metadata": dict(metadata)}
        if amount is not None:
            params["amount"] = amount
        return self._request(lambda: self._api.refunds.create(params, _options(ref, key)), refund_of)

    def retrieve_refund(self, ref: AccountRef, refund_id: str) -> Refund:
        return self._request(lambda: self._api.refunds.retrieve(refund_id, {}, _options(ref)), refund_of)

    def list_readers(self, ref: AccountRef, location_id: str) -> list[Reader]:
        params: ReaderListParams = {"location": location_id, "limit": self._page}
        return list(self._each(lambda: self._api.terminal.readers.list(params, _options(ref)), params, smart_reader_of))

    def retrieve_reader(self, ref: AccountRef, reader_id: str) -> Reader:
        return self._request(lambda: self._api.terminal.readers.retrieve(reader_id, {}, _options(ref)), reader_of)

    def process_intent(self, ref: AccountRef, reader_id: str, intent_id: str, key: str) -> Reader:
        options = _options(ref, key)
        try:
            return self._request(
                lambda: self._api.terminal.readers.process_payment_intent(
                    reader_id, {"payment_intent": intent_id}, options
                ),
                reader_of,
            )
        except Rejected as error:
            if error.reason != WAITS_FOR_NO_CARD:
                raise
            raise InvalidState(str(error), self.retrieve_intent(ref, intent_id)) from error

    def cancel_reader_action(self, ref: AccountRef, reader_id: str) -> Reader:
        options = _options(ref, str(uuid.uuid4()))
        return self._request(lambda: self._api.terminal.readers.cancel_action(reader_id, {}, options), reader_of)

    def parse_event(self, raw: bytes, headers: Mapping[str, str], now: datetime) -> ProcessorEvent:
        """Read an event that is signed with the secret of one of the endpoints that send here: the account's own, and
        that of connected accounts."""
        header = next((value for name, value in headers.items() if name.lower() == "stripe-signature"), "")
        if not any(_is_signed(secret, header, raw, now) for secret in self._webhook_secrets):
            raise BadSignature("The event is not signed by the payment processor, or not within the last five minutes.")
        return event_of(raw)

    def _each(self, send: Send, params: Any, read: Callable[[dict[str, Any]], T | None]) -> Iterator[T]:
        """Yield the objects of a list, page by page: `send` requests the page that `params` name. Those that `read`
        returns None for are left out."""
        more = True
        while more:
            found, last_id, more = self._request(send, lambda sent: _page_of(sent, read))
            yield from (one for one in found if one is not None)
            if more:
                params["starting_after"] = last_id

    def _change(self, ref: AccountRef, send: Send) -> Intent:
        """Change an intent. One that does not allow it is retrieved, where that succeeds: errors show it without the
        card of its receipt, and one that is replayed for its key shows it as it was."""
        try:
            return self._request(send, intent_of)
        except InvalidState as error:
            intent = error.intent
            with suppress(ProcessorError):
                intent = self.retrieve_intent(ref, intent.id)
            raise InvalidState(str(error), intent) from error

    def _request(self, send: Send, read: Callable[[dict[str, Any]], T]) -> T:
        sent = _request_answer(send, self._pause)
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


def _page_of(sent: dict[str, Any], read: Callable[[dict[str, Any]], T | None]) -> tuple[list[T | None], str, bool]:
    """Return the objects of a page, the id of the last one, and whether there are more."""
    found = parts(sent, "data")
    return (
        [read(dict(one)) for one in found],
        text(found[-1], "id") if found else "",
        flag(sent, "has_more") and bool(found),
    )


def _is_signed(secret: str, header: str, raw: bytes, now: datetime) -> bool:
    try:
        # The SDK's own check looks at the stamp only for being old, and by the machine's clock.
        verify(secret.strip().encode(), header, raw, now)
    except BadSignature:
        return False
    return True


def _request_answer(send: Send, pause: float) -> dict[str, Any]:
    """Return Stripe's answer. Where the outcome is unknown, the request is sent once more, with the same idempotency
    key. Raises ProcessorError."""
    try:
        return _request_once(send)
    except OutcomeUnknown as unknown:
        time.sleep(pause)
        try:
            return _request_once(send)
        except (Busy, Misconfigured):
            # The second try did nothing; the first one may be still under way.
            raise unknown from None


def _request_once(send: Send) -> dict[str, Any]:
    try:
        return send().to_dict()
    except stripe.StripeError as error:
        raise _processor_error(error) from error
    except UNREADABLE as error:
        log.warning("stripe_unreadable", kind=type(error).__name__)
        raise OutcomeUnknown("Stripe’s answer cannot be read.") from error


def _processor_error(error: stripe.StripeError) -> ProcessorError:
    """Return the port's error, and log what Stripe said under its request id."""
    sent = _error_body(error)
    code = str(sent.get("code") or "")  # The SDK's own `error.code` is None for 403, 409 and 429.
    log.warning(
        "stripe_refused",
        kind=type(error).__name__,
        status=error.http_status,
        code=code,
        param=sent.get("param"),
        stripe_request=error.request_id,
    )
    return _port_error(error, sent, code)


def _port_error(error: stripe.StripeError, sent: Mapping[str, Any], code: str) -> ProcessorError:
    if code in OF_READERS:
        return OF_READERS[code]()
    if isinstance(error, stripe.RateLimitError):
        return Busy("Stripe is busy. Try again in a moment.", _retry_after(error))
    if isinstance(error, stripe.AuthenticationError | stripe.PermissionError):
        return Misconfigured("Stripe does not accept the shop’s key, or not for this account.")
    if isinstance(error, stripe.CardError):
        return Declined(_message(error), str(sent.get("decline_code") or code), _intent_of_error(sent))
    if isinstance(error, stripe.IdempotencyError):
        return KeyReused()
    if isinstance(error, stripe.InvalidRequestError):
        return _error_of_invalid_request(error, sent, code)
    # Also the conflict with a request that is under way with the same key: that one may be done.
    return OutcomeUnknown(UNKNOWN)


def _error_of_invalid_request(error: stripe.InvalidRequestError, sent: Mapping[str, Any], code: str) -> ProcessorError:
    if code == "payment_intent_unexpected_state":
        intent = _intent_of_error(sent)
        return InvalidState(_message(error), intent) if intent else OutcomeUnknown(UNKNOWN)
    if code == "resource_missing" and error.param == "location":
        return Misconfigured("Stripe has no such location in this account.")
    if code == "resource_missing" and error.param == "reader":
        return ReaderNotFound()
    if code == "resource_missing" and error.param in ("intent", "payment_intent"):
        return IntentNotFound("Stripe has no such payment in this account.")
    return Rejected(_message(error), code)


def _error_body(error: stripe.StripeError) -> Mapping[str, Any]:
    body = error.json_body
    sent = body.get("error") if isinstance(body, dict) else None
    return sent if isinstance(sent, dict) else {}


def _intent_of_error(sent: Mapping[str, Any]) -> Intent | None:
    """Return the intent of an error; None where it is not there, or cannot be read."""
    try:
        return intent_of(part(sent, "payment_intent"))
    except ValueError:
        return None


def _message(error: stripe.StripeError) -> str:
    return error.user_message or "Stripe refused it."


def _retry_after(error: stripe.StripeError) -> int:
    said = next((value for name, value in (error.headers or {}).items() if name.lower() == "retry-after"), "")
    return min(60, int(said)) if said.isascii() and said.isdigit() and said != "0" else RETRY_AFTER
