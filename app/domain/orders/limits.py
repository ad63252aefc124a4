"""Limits that protect the shop and its customers from programs; people do not meet them.

One visitor may order only so much without having paid for any of it: an order takes its stock at once, so that a
program which orders all day would empty the shop. And one person gets only so many mails because others name their
address: an order, or a receipt, may name anybody's. Orders and receipts are counted apart, so that orders of a stranger
keep no till from sending a receipt.
"""

from __future__ import annotations

import hmac
import re
import unicodedata
from datetime import timedelta
from enum import StrEnum

from sqlalchemy import ColumnElement, func, or_, select

from app.domain.orders.basket import Contact
from app.domain.orders.models import SUBMITTED, Order
from app.domain.shared.clock import Clock
from app.domain.shared.problems import TooManyRequests
from app.domain.sites import throttle
from app.extensions import db

# Of one email address or phone number, until some of them are handed over or cancelled.
MOST_OPEN = 20
TRY_AGAIN_AFTER = timedelta(hours=1)
# Of one network address: an office or a school has one for all who shop from there.
MOST_OF_ADDRESS = 30
ADDRESS_WINDOW = timedelta(hours=1)
# Mails to one recipient.
RECIPIENT_KEY_PURPOSE = "recipients"
MOST_AN_HOUR = 10
MOST_A_DAY = 20
MAIL_LIMITS = ((MOST_AN_HOUR, timedelta(hours=1)), (MOST_A_DAY, timedelta(days=1)))


def check_limits(clock: Clock, site_id: int, contact: Contact, address: str, key: bytes) -> None:
    """Check the limits for a new order, and count it for its network address, "" where it has none, and for the
    recipient of its mail, by a hash under `key`. Call it while the site's row of order numbers is locked, so that
    simultaneous orders are counted one after the other. Raises TooManyRequests."""
    if _open_orders(site_id, contact) >= MOST_OPEN:
        raise TooManyRequests(
            f"There are already {MOST_OPEN} orders with this email address or phone number that are not handed over "
            "yet. Please get one of them first, or ask us in the shop. Your order has not been placed.",
            int(TRY_AGAIN_AFTER.total_seconds()),
        )
    if address and not throttle.is_this_machine(address):
        throttle.note_order(clock, site_id, address, MOST_OF_ADDRESS, ADDRESS_WINDOW)
    if contact.email:
        note_mail(clock, key, site_id, Mailed.ORDER, contact.email)


def _open_orders(site_id: int, contact: Contact) -> int:
    """Count the open web orders of the same contact: an equal email address, whatever its case, or equal digits of the
    phone number."""
    unpaid = Order.site_id == site_id, Order.status == SUBMITTED, Order.channel == "WEB"
    conditions: list[ColumnElement[bool]] = []
    if contact.email:
        conditions.append(func.lower(Order.contact_email) == func.lower(contact.email))
    if contact.phone:
        digits: ColumnElement[str] = func.replace(Order.contact_phone, " ", "")
        for sign in "+()/.-":
            digits = func.replace(digits, sign, "")
        conditions.append(digits == re.sub(r"[^0-9]", "", contact.phone))
    return db.session.scalar(select(func.count()).select_from(Order).where(*unpaid, or_(*conditions))) or 0


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
    if seconds := throttle.count_within(clock, f"{mailed}-mail:{site_id}:{digest}", *MAIL_LIMITS):
        raise TooManyRequests(REFUSALS[mailed].format(wait=throttle.spoken(seconds)), seconds)


def mailbox_of(email: str) -> str:
    """Return one form for the spellings that reach the same mailbox at common mail servers: whatever the case, the dots
    before the @, and what follows a plus sign there. Where servers tell them apart, several people share a limit."""
    local, _, domain = unicodedata.normalize("NFKC", email).casefold().rpartition("@")
    return f"{local.partition('+')[0].replace('.', '') or local}@{domain}"
