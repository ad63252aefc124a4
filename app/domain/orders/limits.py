"""Limits on what one visitor may order without having paid for any of it: an order takes its stock at once, so that a
program which orders all day would empty the shop. People do not meet these limits."""

from __future__ import annotations

import re
from datetime import timedelta

from sqlalchemy import ColumnElement, func, or_, select

from app.domain.orders.contact import Contact
from app.domain.orders.models import SUBMITTED, Order
from app.domain.orders.recipients import Mailed, note_mail
from app.domain.shared.clock import Clock
from app.domain.shared.problems import TooManyRequests
from app.domain.sites import throttle
from app.extensions import db

# Of one email address or phone number, until some of them are collected or cancelled.
MOST_OPEN = 20
TRY_AGAIN_AFTER = timedelta(hours=1)
# Of one network address: an office or a school has one for all who shop from there.
MOST_OF_ADDRESS = 30
ADDRESS_WINDOW = timedelta(hours=1)


def check_limits(clock: Clock, site_id: int, contact: Contact, address: str, key: bytes) -> None:
    """Check the limits for a new order, and count it for its network address, "" where it has none, and for the
    recipient of its mail, by a hash under `key`. Call it while the site's row of order numbers is locked, so that
    simultaneous orders are counted one after the other. Raises TooManyRequests."""
    if _open_orders(site_id, contact) >= MOST_OPEN:
        raise TooManyRequests(
            f"There are already {MOST_OPEN} orders with this email address or phone number awaiting collection. Please "
            "collect one first, or ask us in the shop. Your order has not been placed.",
            int(TRY_AGAIN_AFTER.total_seconds()),
        )
    if address and not throttle.is_this_machine(address):
        throttle.note_order(clock, site_id, address, MOST_OF_ADDRESS, ADDRESS_WINDOW)
    if contact.email:
        note_mail(clock, key, site_id, Mailed.ORDER, contact.email)


def _open_orders(site_id: int, contact: Contact) -> int:
    unpaid = Order.site_id == site_id, Order.status == SUBMITTED, Order.channel == "WEB"
    same = or_(*_same(contact))
    return db.session.scalar(select(func.count()).select_from(Order).where(*unpaid, same)) or 0


def _same(contact: Contact) -> list[ColumnElement[bool]]:
    """Return the conditions on orders of the same contact: an equal email address, whatever its case, or equal digits
    of the phone number."""
    conditions = []
    if contact.email:
        conditions.append(func.lower(Order.contact_email) == func.lower(contact.email))
    if contact.phone:
        digits: ColumnElement[str] = func.replace(Order.contact_phone, " ", "")
        for sign in "+()/.-":
            digits = func.replace(digits, sign, "")
        conditions.append(digits == re.sub(r"[^0-9]", "", contact.phone))
    return conditions
