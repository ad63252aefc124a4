"""Orders that their shoppers look up: by number and email address, or by a signed link that names the order's id."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest

from sqlalchemy import select
from sqlalchemy.orm import selectinload

from app.domain.orders.basket import LONGEST_EMAIL
from app.domain.orders.listing import order_number
from app.domain.orders.models import OPEN, Order
from app.domain.shared.problems import Invalid, NotFound, Problem
from app.domain.shared.records import find_record
from app.extensions import db

NO_SUCH_ORDER = (
    "No order has this number and this email address. Check both against your confirmation, or ask us in the shop."
)
AS_PRINTED = re.compile(r"^order\s*(?=[#0-9])", re.IGNORECASE)  # "Order 86", as pages and mails call it.


@dataclass(frozen=True, slots=True)
class OrderQuery:
    """What a shopper typed, checked."""

    number: int
    email: str


def read_query(number: str, email: str) -> OrderQuery:
    """Return what was typed as a query. Raises Invalid with every problem."""
    digits = AS_PRINTED.sub("", number.strip())
    read, address, problems = order_number(digits), email.strip(), []
    if not read:
        problems.append(Problem("invalid_number", "Enter the number of your order, such as 1024.", "#/number"))
    if "@" not in address or len(address) > LONGEST_EMAIL:
        message = "Enter the email address that you gave with your order."
        problems.append(Problem("invalid_email", message, "#/email"))
    if problems or read is None:
        raise Invalid(problems)
    return OrderQuery(read, address)


def find_order(site_id: int, query: OrderQuery) -> str:
    """Return the id of the order of a number, if the email address is the order's. Raises NotFound, with the same words
    and after the same work for an unknown number and for another address, so that nobody learns which orders there
    are."""
    row = db.session.execute(
        select(Order.id, Order.contact_email).where(
            Order.site_id == site_id, Order.number == query.number, Order.status != OPEN
        )
    ).one_or_none()
    order_id, email = row or ("", "")
    if not compare_digest(_digest(query.email), _digest(email or secrets.token_urlsafe())):
        raise NotFound(NO_SUCH_ORDER)
    return str(order_id)


def linked_order(site_id: int, order_id: str) -> Order | None:
    """Return the order that a link names, for as long as its contact is kept: then the link ends too."""
    order = find_record(Order, site_id, order_id, options=[selectinload(Order.lines)])
    return order if order is not None and order.status != OPEN and order.contact_email else None


def _digest(email: str) -> bytes:
    return sha256(email.casefold().encode(errors="replace")).digest()
