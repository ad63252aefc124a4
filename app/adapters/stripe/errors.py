"""Stripe's errors as the port's. The table is by what they mean for the money: was it done, not done, or is it
unknown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import stripe
import structlog

from app.adapters.sent_fields import part
from app.adapters.stripe.mapping import intent_of
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

log = structlog.get_logger()

RETRY_AFTER = 2  # Seconds, where Stripe does not say.
UNKNOWN = "Stripe did not say whether it was done."


def processor_error(error: stripe.StripeError) -> ProcessorError:
    """Return the port's error, and log what Stripe said under its request id."""
    sent = _sent(error)
    code = str(sent.get("code") or "")  # The SDK's own `error.code` is None for 403, 409 and 429.
    log.warning(
        "stripe_refused",
        kind=type(error).__name__,
        status=error.http_status,
        code=code,
        param=sent.get("param"),
        stripe_request=error.request_id,
    )
    return _meaning(error, sent, code)


def _meaning(error: stripe.StripeError, sent: Mapping[str, Any], code: str) -> ProcessorError:
    if isinstance(error, stripe.RateLimitError):
        return Busy("Stripe is busy. Try again in a moment.", _retry_after(error))
    if isinstance(error, stripe.AuthenticationError | stripe.PermissionError):
        return Misconfigured("Stripe does not accept the shop’s key, or not for this account.")
    if isinstance(error, stripe.CardError):
        return Declined(_words(error), str(sent.get("decline_code") or code), _intent(sent))
    if isinstance(error, stripe.IdempotencyError):
        return KeyReused()
    if isinstance(error, stripe.InvalidRequestError):
        return _invalid(error, sent, code)
    # Also the conflict with a request that is under way with the same key: that one may be done.
    return OutcomeUnknown(UNKNOWN)


def _invalid(error: stripe.InvalidRequestError, sent: Mapping[str, Any], code: str) -> ProcessorError:
    if code == "payment_intent_unexpected_state":
        intent = _intent(sent)
        return InvalidState(_words(error), intent) if intent else OutcomeUnknown(UNKNOWN)
    if code == "resource_missing" and error.param == "location":
        return Misconfigured("Stripe has no such location in this account.")
    if code == "resource_missing" and error.param in ("intent", "payment_intent"):
        return IntentNotFound("Stripe has no such payment in this account.")
    return Rejected(_words(error), code)


def _sent(error: stripe.StripeError) -> Mapping[str, Any]:
    body = error.json_body
    sent = body.get("error") if isinstance(body, dict) else None
    return sent if isinstance(sent, dict) else {}


def _intent(sent: Mapping[str, Any]) -> Intent | None:
    """Return the intent of an error; None where it is not there, or cannot be read."""
    try:
        return intent_of(part(sent, "payment_intent"))
    except ValueError:
        return None


def _words(error: stripe.StripeError) -> str:
    return error.user_message or "Stripe refused it."


def _retry_after(error: stripe.StripeError) -> int:
    said = next((value for name, value in (error.headers or {}).items() if name.lower() == "retry-after"), "")
    return min(60, int(said)) if said.isascii() and said.isdigit() and said != "0" else RETRY_AFTER
