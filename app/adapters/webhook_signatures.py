"""Signatures of webhooks, as in Stripe's header: `t=<seconds>,v1=<hex>`, the HMAC-SHA256 of `<seconds>.<body>`."""

from __future__ import annotations

import hashlib
import hmac
from datetime import datetime, timedelta

from app.domain.pos.processor import BadSignature

TOLERANCE = timedelta(seconds=300)
LONGEST_HEADER = 2_000


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
