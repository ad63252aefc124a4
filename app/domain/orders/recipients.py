"""Limits on the mails that one person gets because others name their address: an order, or a receipt, may name
anybody's. Customers do not meet these limits.

Orders and receipts are counted apart, so that orders of a stranger keep no till from sending a receipt.
"""

from __future__ import annotations

import hmac
import unicodedata
from datetime import timedelta
from enum import StrEnum

from app.domain.shared.clock import Clock
from app.domain.shared.problems import TooManyRequests
from app.domain.sites import throttle

PURPOSE = "recipients"  # Of the key.
MOST_AN_HOUR = 10
MOST_A_DAY = 20
LIMITS = ((MOST_AN_HOUR, timedelta(hours=1)), (MOST_A_DAY, timedelta(days=1)))


class Mailed(StrEnum):
    """What is mailed to an address that a stranger may have named."""

    ORDER = "order"
    RECEIPT = "receipt"


REFUSALS = {
    Mailed.ORDER: "There were very many orders with this email address. Please try again in {wait}, leave the address "
    "out and give a phone number, or come to the shop. Your order has not been placed, and your basket stays as it is.",
    Mailed.RECEIPT: "Very many receipts were sent to this address. Nothing was sent now. Try again in {wait}, or show "
    "the receipt's code.",
}


def note_mail(clock: Clock, key: bytes, site_id: int, mailed: Mailed, email: str) -> None:
    """Count a mail to a customer. Raises TooManyRequests when the recipient got very many within an hour or a day. No
    address is kept: only its hash under `key` is, for a day."""
    digest = hmac.digest(key, mailbox_of(email).encode(), "sha256").hex()
    if seconds := throttle.count_within(clock, f"{mailed}-mail:{site_id}:{digest}", *LIMITS):
        raise TooManyRequests(REFUSALS[mailed].format(wait=throttle.spoken(seconds)), seconds)


def mailbox_of(email: str) -> str:
    """Return one form for the spellings that reach the same mailbox at common mail servers: whatever the case, the dots
    before the @, and what follows a plus sign there. Where servers tell them apart, several people share a limit."""
    local, _, domain = unicodedata.normalize("NFKC", email).casefold().rpartition("@")
    return f"{local.partition('+')[0].replace('.', '') or local}@{domain}"
