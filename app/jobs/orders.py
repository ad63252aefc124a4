"""Orders: baskets that were paid and never submitted become orders, so that no sale is lost with a phone; sales are
counted, mails sent."""

from __future__ import annotations

import structlog

from app.domain.alerts.alerts import end_alert
from app.domain.alerts.causes import Cause
from app.domain.merchandising.line_pictures import line_pictures
from app.domain.orders import mails, sales
from app.domain.pos import order_payments
from app.domain.shared.problems import DomainError
from app.domain.work.context import read_afresh
from app.operations.work_context import work_context
from app.ports import clock, mailer
from app.transaction import transaction
from app.web.order_links import order_path

log = structlog.get_logger()


def submit_forgotten_baskets() -> None:
    """Submit the paid baskets that were never submitted, and end the alerts about refunded ones. One that cannot be
    submitted is shown to staff and does not delay the others."""
    read_afresh()
    for site_id, order_id in order_payments.forgotten_baskets(clock()):
        _submit_basket(site_id, order_id)
    for site_of_alert, order_id in order_payments.alerts_of_refunded():
        with transaction():
            end_alert(clock(), Cause.PAID_BASKET_OPEN, site_of_alert, order_id)


def _submit_basket(site_id: int, order_id: str) -> None:
    try:
        with transaction():
            order_payments.submit_forgotten(clock(), site_id, order_id)
        log.info("paid_basket_submitted", site=site_id, order=order_id)
    except DomainError as refusal:
        with transaction():
            order_payments.note_unsubmitted(clock(), site_id, order_id, refusal.message)


def count_sales(site_id: int) -> None:
    """Count the sales of a site, so that the index follows them."""
    with transaction():
        changed = sales.count_sales(clock(), site_id)
    if changed:
        log.info("sales_counted", site=site_id, changed=changed)


def send_mail(mail_id: str) -> bool:
    sources = mails.MailSources(order_path, order_payments.given_back_of, line_pictures)
    return mails.send(work_context(), mailer(), mail_id, sources)
