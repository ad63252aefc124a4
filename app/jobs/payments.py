"""Open payments and the ledger, compared with the payment processor."""

from __future__ import annotations

from app.domain.pos.models import PosTransaction
from app.domain.pos.reconciliation import checks, nightly
from app.domain.pos.reconciliation.checks import settle_retired
from app.domain.shared.author import Author
from app.extensions import db
from app.operations.work_context import work_context
from app.ports import clock, payment_processor, retired_simulator
from app.transaction import transaction

REQUESTED_BY = "the shop itself"


def check(site_id: int) -> None:
    checks.check(work_context(), payment_processor(), site_id)


def reconcile(run_id: str) -> bool:
    return nightly.reconcile(work_context(), payment_processor(), run_id)


def request_checks() -> None:
    """Request a check of each site with something due. A worker does it, so that a slow processor delays no other
    site. What a retired simulator has open is settled at once, since that reads only the shop's own database, and last,
    so that an error there keeps no check of real payments from being requested."""
    for site_id in checks.sites_due(clock(), payment_processor()):
        with transaction():
            checks.request(_author(site_id))
    if (retired := retired_simulator()) is not None:
        settle_retired(work_context(), retired)


def check_due() -> None:
    """Check the due payments in this process, one site after the other."""
    request_checks()
    for site_id in checks.sites_due(clock(), payment_processor()):
        check(site_id)


def request_reconciliation(site_id: int) -> None:
    """Request a reconciliation of a site that ever took a card."""
    if _takes_cards(site_id):
        _request(site_id)


def reconcile_by_hand(site_id: int) -> None:
    if _takes_cards(site_id):
        reconcile(_request(site_id))


def _request(site_id: int) -> str:
    with transaction():
        return nightly.request(_author(site_id)).id


def _takes_cards(site_id: int) -> bool:
    return db.session.query(PosTransaction.id).filter_by(site_id=site_id).first() is not None


def _author(site_id: int) -> Author:
    return Author(site_id, REQUESTED_BY, clock())
