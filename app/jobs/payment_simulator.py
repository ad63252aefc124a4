"""The payment simulator's events, sent to the shop as a real processor sends its own over the network."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

import structlog

from app.domain.pos.simulator import deliver_events
from app.domain.pos.webhooks import receive
from app.domain.shared.redaction import error_summary
from app.domain.work.context import read_afresh
from app.extensions import db
from app.operations.storage import note_storage_fault
from app.operations.work_context import work_context
from app.ports import payment_simulator

log = structlog.get_logger()


def deliver(waited: timedelta = timedelta(0)) -> None:
    """Deliver every event that has been due for at least so long."""
    read_afresh()
    simulator = payment_simulator()
    if simulator is None:
        return
    for error in deliver_events(simulator, partial(receive, work_context(), simulator), waited):
        db.session.rollback()
        if not note_storage_fault(error):
            log.warning("event_not_delivered", error=error_summary(error))
