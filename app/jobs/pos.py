"""The till: open payments and the ledger are compared with the payment processor, work sessions end with their API
sessions, receipts and the head of the journal are mailed."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

import structlog

from app.domain.pos import journal_mails, receipts, sessions
from app.domain.pos.models import PosTransaction
from app.domain.pos.reconciliation import checks, nightly
from app.domain.pos.reconciliation.checks import settle_retired
from app.domain.pos.simulator import deliver_events
from app.domain.pos.webhooks import receive
from app.domain.shared.author import Author
from app.domain.shared.redaction import error_summary
from app.domain.work.context import read_afresh
from app.extensions import db
from app.jobs.events import follow_up
from app.operations.storage import note_storage_fault
from app.operations.work_context import work_context
from app.ports import clock, mailer, payment_processor, payment_simulator, retired_simulator
from app.transaction import transaction

REQUESTED_BY = "the shop itself"

log = structlog.get_logger()


def check_payments(site_id: int) -> None:
    checks.check(work_context(), payment_processor(), site_id)


def reconcile(run_id: str) -> bool:
    return nightly.reconcile(work_context(), payment_processor(), run_id)


def request_payment_checks() -> None:
    """Request a check of each site with something due. A worker does it, so that a slow processor delays no other
    site. What a retired simulator has open is settled at once, since that reads only the shop's own database, and last,
    so that an error there keeps no check of real payments from being requested."""
    for site_id in checks.sites_due(clock(), payment_processor()):
        with transaction():
            checks.request(_author(site_id))
    if (retired := retired_simulator()) is not None:
        settle_retired(work_context(), retired)


def check_due_payments() -> None:
    """Check the due payments in this process, one site after the other."""
    request_payment_checks()
    for site_id in checks.sites_due(clock(), payment_processor()):
        check_payments(site_id)


def request_reconciliation(site_id: int) -> None:
    """Request a reconciliation of a site that ever took a card."""
    if _has_card_payments(site_id):
        _request_reconciliation(site_id)


def reconcile_by_hand(site_id: int) -> None:
    if _has_card_payments(site_id):
        reconcile(_request_reconciliation(site_id))


def _request_reconciliation(site_id: int) -> str:
    with transaction():
        return nightly.request(_author(site_id)).id


def _has_card_payments(site_id: int) -> bool:
    return db.session.query(PosTransaction.id).filter_by(site_id=site_id).first() is not None


def _author(site_id: int) -> Author:
    return Author(site_id, REQUESTED_BY, clock())


def deliver_simulated_events(waited: timedelta = timedelta(0)) -> None:
    """Deliver the payment simulator's events that have been due for at least so long, as a real processor sends its own
    over the network."""
    read_afresh()
    simulator = payment_simulator()
    if simulator is None:
        return
    for error in deliver_events(simulator, partial(receive, work_context(), simulator), waited):
        db.session.rollback()
        if not note_storage_fault(error):
            log.warning("event_not_delivered", error=error_summary(error))


def end_sessions_of_user(user_id: int) -> None:
    """End the work sessions of a user whose API session a change has ended. Never raises: the change is committed, and
    the schedule finds what was left."""
    with follow_up("work_sessions_not_ended", user=user_id), transaction():
        sessions.apply_ends_of_user(clock(), user_id)


def end_sessions() -> None:
    """End the work sessions whose API session has ended."""
    with transaction():
        ended = sessions.apply_ends(clock())
    if ended:
        log.info("work_sessions_ended", sessions=ended)


def send_receipt(mail_id: str) -> bool:
    return receipts.send_mail(work_context(), mailer(), mail_id)


def send_journal_mail(mail_id: str) -> bool:
    return journal_mails.send(work_context(), mailer(), mail_id)
