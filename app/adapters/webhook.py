"""Webhooks: how they are signed and verified, and the channel that posts alerts to a URL of the owner's.

A signature is a header as Stripe's: `t=<seconds>,v1=<hex>`, the HMAC-SHA256 of `<seconds>.<body>`.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from app.domain.alerts.messages import Notice, NotSent
from app.domain.pos.processor import BadSignature

TOLERANCE = timedelta(seconds=300)
LONGEST_HEADER = 2_000
TIMEOUT = 10.0  # Seconds for the whole exchange.
LARGEST_ANSWER = 20_000  # Bytes as they come, with headers.


def sign(secret: bytes, seconds: int, body: bytes) -> str:
    """Return the value of the header."""
    return f"t={seconds},v1={_digest(secret, str(seconds), body)}"


def verify(secret: bytes, header: str, body: bytes, now: datetime) -> None:
    """Check that one of the header's signatures is of this body, made within 300 seconds of `now`, before or after.
    Raises BadSignature."""
    parts = [part.partition("=")[::2] for part in header[:LONGEST_HEADER].split(",")]
    seconds = next((value for name, value in parts if name == "t"), "")
    signatures = [value for name, value in parts if name == "v1"]
    if not secret or not (seconds.isascii() and seconds.isdigit() and len(seconds) <= 12):
        raise BadSignature("The event is not signed.")
    expected = _digest(secret, seconds, body).encode()
    if not any(hmac.compare_digest(expected, signature.encode(errors="replace")) for signature in signatures):
        raise BadSignature("The signature is not that of this event.")
    if abs(now.timestamp() - int(seconds)) > TOLERANCE.total_seconds():
        raise BadSignature("The event was not signed just now.")


def _digest(secret: bytes, seconds: str, body: bytes) -> str:
    return hmac.new(secret, f"{seconds}.".encode() + body, hashlib.sha256).hexdigest()


class WebhookChannel:
    """The channel that posts alerts as JSON. With a secret, they are signed in the header `X-Shop-Signature`."""

    name = "webhook"

    def __init__(self, url: str, secret: str, timeout: float = TIMEOUT) -> None:
        self._url, self._secret, self._timeout = url, secret, timeout

    def send(self, notice: Notice) -> None:
        # Imported when they are needed: they take a while.
        from httpx2 import HTTPError, InvalidURL

        from app.adapters.bounded_http import bounded_client

        body = json.dumps(notice.as_json()).encode()
        headers = {"Content-Type": "application/json", "User-Agent": "shop-alerts"}
        if self._secret:
            headers["X-Shop-Signature"] = sign(self._secret.encode(), int(time.time()), body)
        host = urlsplit(self._url).hostname or ""  # The rest of the address may hold a secret.
        try:
            with bounded_client(self._url, self._timeout, LARGEST_ANSWER) as client:
                status = client.post(self._url, content=body, headers=headers).status_code
        except (HTTPError, InvalidURL) as error:
            raise NotSent(f"The webhook at {host} did not answer ({type(error).__name__}).") from error
        if not 200 <= status < 300:
            raise NotSent(f"The webhook at {host} answered with status {status}.")
