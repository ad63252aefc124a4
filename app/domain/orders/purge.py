"""Retention of abandoned baskets, and of the contact in old orders."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, and_, or_

from app.domain.orders.models import CANCELLED, COLLECTED, OPEN, Order
from app.domain.retention.purging import Retention

UNTOUCHED = timedelta(days=30)
# For returns and questions; what was sold for how much stays, without a person.
CONTACT_KEPT = timedelta(days=180)
# Some orders are never collected or cancelled; after this time nobody will.
CONTACT_KEPT_AT_MOST = timedelta(days=730)
NOBODY = {"contact_name": "", "contact_email": "", "contact_phone": "", "note": "", "token_hash": None}
NOBODY |= {f"delivery_{part}": "" for part in ("recipient", "line1", "line2", "city", "postcode")}

# The release before, which works beside this one during an upgrade, empties the contact alone.
_HAS_TRACES = or_(Order.contact_name != "", Order.token_hash.is_not(None), Order.delivery_line1 != "")


def _is_without_use_for_contact(now: datetime) -> ColumnElement[bool]:
    is_settled = and_(Order.status.in_((COLLECTED, CANCELLED)), Order.settled_at < now - CONTACT_KEPT)
    return or_(is_settled, Order.submitted_at < now - CONTACT_KEPT_AT_MOST)


RETENTIONS = (
    Retention(
        "abandoned baskets",
        Order,
        dated=Order.updated_at,
        is_old=lambda now: Order.updated_at < now - UNTOUCHED,
        among=and_(Order.status == OPEN, Order.reserved_amount == 0, Order.paid_amount == 0),
    ),
    Retention(
        "contacts of orders",
        Order,
        dated=Order.submitted_at,
        is_old=_is_without_use_for_contact,
        among=and_(Order.status != OPEN, _HAS_TRACES),
        emptied=NOBODY,
    ),
)
