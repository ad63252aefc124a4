"""Removes what is kept only for a time: baskets that nobody touched, and who placed an order long ago."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import and_, delete, or_, update

from app.domain.orders.models import Order
from app.domain.shared.clock import Clock
from app.extensions import db

UNTOUCHED = timedelta(days=30)
# For returns and questions; what was sold for how much stays, without a person.
CONTACT_KEPT = timedelta(days=180)
# Nobody collects or cancels some orders; what is that old, nobody is going to.
CONTACT_KEPT_AT_MOST = timedelta(days=730)
PLAIN = {"synchronize_session": False}
NOBODY = {"contact_name": "", "contact_email": "", "contact_phone": "", "note": "", "token_hash": None}


def purge(clock: Clock) -> int:
    """How many baskets went and how many orders forgot who ordered."""
    now = clock.now()
    baskets = delete(Order).where(Order.status == "OPEN", Order.updated_at < now - UNTOUCHED)
    known = or_(Order.contact_name != "", Order.token_hash.is_not(None))
    settled = and_(Order.status.in_(("COLLECTED", "CANCELLED")), Order.settled_at < now - CONTACT_KEPT)
    old = and_(Order.status != "OPEN", Order.submitted_at < now - CONTACT_KEPT_AT_MOST)
    nameless = update(Order).where(or_(settled, old), known).values(NOBODY)
    results = [db.session.execute(statement, execution_options=PLAIN) for statement in (baskets, nameless)]
    return sum(result.rowcount for result in results)  # type: ignore[attr-defined]
