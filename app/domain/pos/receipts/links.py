"""Links to receipts: the id of a payment with a signature, under a key that is made for this purpose alone. The holder
of a link may read the receipt; none can be guessed. Pure."""

from __future__ import annotations

import base64
import hmac

PURPOSE = "receipts"  # Of the key.
LONGEST_TOKEN = 120
SIGNED_BYTES = 18  # 144 bits.


def receipt_token(key: bytes, site_id: int, transaction_id: str) -> str:
    return f"{transaction_id}.{_signature(key, site_id, transaction_id)}"


def transaction_of_token(key: bytes, site_id: int, token: str) -> str | None:
    """Return the id of the payment that a token names; None for a token that was not signed for this site."""
    transaction_id, _, signature = token.rpartition(".")
    if not transaction_id or len(token) > LONGEST_TOKEN or not token.isascii():
        return None
    is_ours = hmac.compare_digest(signature, _signature(key, site_id, transaction_id))
    return transaction_id if is_ours else None


def _signature(key: bytes, site_id: int, transaction_id: str) -> str:
    digest = hmac.digest(key, f"{site_id}/{transaction_id}".encode(), "sha256")
    return base64.urlsafe_b64encode(digest[:SIGNED_BYTES]).decode()
