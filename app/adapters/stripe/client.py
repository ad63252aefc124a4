"""Stripe's SDK, set up for a till: it waits seconds rather than minutes, and says nothing about this machine."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

import stripe

from app.adapters.stripe.errors import processor_error
from app.domain.pos.processor import Busy, Misconfigured, OutcomeUnknown

CONNECT_SECONDS, READ_SECONDS = 3.0, 10.0
PAUSE_SECONDS = 0.3  # Before the second and last try.
Send = Callable[[], stripe.StripeObject]

# Once for the process: no identifier in the home directory and none of this machine in the headers; and no line of the
# SDK below a warning, since it logs whole answers, which hold secrets.
stripe.enable_telemetry = False
logging.getLogger("stripe").setLevel(logging.WARNING)


def make_client(secret_key: str, api_base: str | None, read_seconds: float = READ_SECONDS) -> stripe.StripeClient:
    """Return a client of the SDK that repeats nothing by itself: its own retries hide that an earlier try may have been
    done. `answer` repeats."""
    return stripe.StripeClient(
        secret_key,
        base_addresses={"api": api_base} if api_base else {},
        http_client=stripe.RequestsClient(timeout=(CONNECT_SECONDS, read_seconds)),
        max_network_retries=0,
    )


def answer(send: Send, pause: float = PAUSE_SECONDS) -> dict[str, Any]:
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
