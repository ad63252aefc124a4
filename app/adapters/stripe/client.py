"""Stripe's SDK, set up for a till: it waits seconds rather than minutes, and says nothing about this machine. Its
errors become the port's by what they mean for the money: was it done, not done, or is it unknown."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from typing import Any

import stripe
import structlog

from app.adapters.sent_fields import part
from app.adapters.stripe.objects import intent_of
from app.domain.pos.processor import (
    Busy,
    Declined,
    Intent,
    IntentNotFound,
    InvalidState,
    KeyReused,
    Misconfigured,
    OutcomeUnknown,
    ProcessorError,
    Rejected,
)

CONNECT_SECONDS, READ_SECONDS = 3.0, 10.0
PAUSE_SECONDS = 0.3  # Before the second and last try.
Send = Callable[[], stripe.StripeObject]
# Once for the process: no identifier in the home directory and none of this machine in the headers; and no line of the
# SDK below a warning, since it logs whole answers, which hold secrets.
stripe.enable_telemetry = False
logging.getLogger("stripe").setLevel(logging.WARNING)
log = structlog.get_logger()
RETRY_AFTER = 2  # Seconds, where Stripe does not say.
UNKNOWN = "Stripe did not say whether it was done."


def make_client(secret_key: str, api_base: str | None, read_seconds: float = READ_SECONDS) -> stripe.StripeClient:
    """Return a client of the SDK that repeats nothing by itself: its own retries hide that an earlier try may have been
    done. `request_answer` repeats."""
    return stripe.StripeClient(
        secret_key,
        base_addresses={"api": api_base} if api_base else {},
        http_client=stripe.RequestsClient(timeout=(CONNECT_SECONDS, read_seconds)),
        max_network_retries=0,
    )


def request_answer(send: Send, pause: float = PAUSE_SECONDS) -> dict[str, Any]:
    """Return Stripe's answer. Where the outcome is unknown, the request is sent once more, with the same idempotency
    key. Raises ProcessorError."""
    try:
        return _once(send)
    except OutcomeUnknown as unknown:
        time.sleep(pause)
        try:
            return _once(send)
        except (Busy, Misconfigured):
            # The second try did nothing; the first one may be still under way.
            raise unknown from None


def _once(send: Send) -> dict[str, Any]:
    try:
        return send().to_dict()
    except stripe.StripeError as error:
        raise processor_error(error) from error
    except RecursionError as error:
        raise OutcomeUnknown("Stripe’s answer cannot be read.") from error


def processor_error(error: stripe.StripeError) -> ProcessorError:
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
    if isinstance(error, stripe.RateLimitError):
        return Busy("Stripe is busy. Try again in a moment.", _retry_after(error))
    if isinstance(error, stripe.AuthenticationError | stripe.PermissionError):
        return Misconfigured("Stripe does not accept the shop’s key, or not for this account.")
    if isinstance(error, stripe.CardError):
        return Declined(_message(error), str(sent.get("decline_code") or code), _intent_of_error(sent))
    if isinstance(error, stripe.IdempotencyError):
        return KeyReused()
    if isinstance(error, stripe.InvalidRequestError):
        return _invalid(error, sent, code)
    # Also the conflict with a request that is under way with the same key: that one may be done.
    return OutcomeUnknown(UNKNOWN)


def _invalid(error: stripe.InvalidRequestError, sent: Mapping[str, Any], code: str) -> ProcessorError:
    if code == "payment_intent_unexpected_state":
        intent = _intent_of_error(sent)
        return InvalidState(_message(error), intent) if intent else OutcomeUnknown(UNKNOWN)
    if code == "resource_missing" and error.param == "location":
        return Misconfigured("Stripe has no such location in this account.")
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
