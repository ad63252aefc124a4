"""Open payments and the ledger, compared with the payment processor."""

from __future__ import annotations

from app.domain.pos.reconciliation import checks
from app.domain.shared.author import Author
from app.ports import clock, payment_processor
from app.transaction import transaction
from app.work_context import work_context

REQUESTED_BY = "the shop itself"


def check(site_id: int) -> None:
    checks.check(work_context(), payment_processor(), site_id)


def request_checks() -> None:
    """A worker looks at each site: one whose processor is slow holds up no other."""
    for site_id in checks.sites_due(clock(), payment_processor()):
        with transaction():
            checks.request(Author(site_id, REQUESTED_BY, clock()))


def check_due() -> None:
    """At once, one site after the other."""
    request_checks()
    for site_id in checks.sites_due(clock(), payment_processor()):
        check(site_id)
