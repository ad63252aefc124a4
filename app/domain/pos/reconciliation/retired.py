"""Open payments of the simulator in a shop that takes payments with another processor by now. What they hold is let go
as ever: the simulator's own tables say how each stands, and no card can be held to its reader any more."""

from __future__ import annotations

from datetime import datetime

import structlog
from sqlalchemy import select

from app.domain.pos.models import PosTransaction
from app.domain.pos.processor import PaymentProcessor
from app.domain.pos.reconciliation.status_updates import DuePayment, listed_intents, note_unread, settle_payment
from app.domain.shared.problems import DomainError
from app.domain.work.context import WorkContext, read_afresh
from app.extensions import db

BATCH = 50  # The rest is due a minute later.

log = structlog.get_logger()


def settle_retired(context: WorkContext, simulator: PaymentProcessor) -> None:
    """Bring the due payments of the simulator up to date, of all sites. Call it outside a transaction."""
    due = _due(simulator, context.clock.now())
    read_afresh()
    for payment in due:
        try:
            no_id = payment.intent_id is None
            listed = listed_intents(context, simulator, payment.account_id, [payment]) if no_id else {}
            settle_payment(context, simulator, payment, listed)
        except DomainError as error:
            db.session.rollback()
            log.warning("payment_not_settled", site=payment.site_id, reason=error.message)
            note_unread(context, payment)


def _due(simulator: PaymentProcessor, now: datetime) -> list[DuePayment]:
    due = PosTransaction.processor == simulator.name, PosTransaction.next_check_at <= now
    query = select(PosTransaction).where(*due).order_by(PosTransaction.next_check_at).limit(BATCH)
    return [DuePayment.of(row) for row in db.session.scalars(query)]
