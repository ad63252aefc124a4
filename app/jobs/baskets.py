"""Baskets that were paid and never submitted become orders, so that no sale is lost with a phone."""

from __future__ import annotations

import structlog

from app.domain.pos import baskets
from app.domain.shared.problems import Conflict
from app.domain.work.context import read_afresh
from app.ports import clock
from app.transaction import transaction

log = structlog.get_logger()


def submit_forgotten() -> None:
    """Each minute; one that cannot be submitted is shown to staff and does not hold up the others."""
    read_afresh()
    for site_id, order_id in baskets.forgotten_baskets(clock()):
        _submit(site_id, order_id)
    with transaction():
        baskets.end_alerts_of_refunded(clock())


def _submit(site_id: int, order_id: str) -> None:
    try:
        with transaction():
            baskets.submit_forgotten(clock(), site_id, order_id)
        log.info("paid_basket_submitted", site=site_id, order=order_id)
    except Conflict as refusal:
        with transaction():
            baskets.note_unsubmitted(clock(), site_id, order_id, refusal.message)
