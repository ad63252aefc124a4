"""One card payment: all that is known of it, and what staff can do about it."""

from __future__ import annotations

import uuid

from flask import flash, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.field_errors import FieldErrors
from app.blueprints.author import current_author
from app.domain.pos import transactions
from app.domain.pos import transactions as timeline
from app.domain.pos.payments.transitions import settle_anomaly
from app.domain.pos.processor import RECEIPT_FIELDS
from app.domain.pos.receipts import mails_of
from app.domain.pos.refunds import refundable_amount, refunds_of
from app.domain.pos.states import OPEN_STATUSES, PAID_STATUSES, TYPE_LABELS, TransactionStatus
from app.domain.shared.card_numbers import names_card
from app.domain.shared.problems import Conflict, DomainError, Invalid
from app.domain.sites.sites import time_zone_of
from app.permissions import Permission, requires
from app.transaction import transaction

TRANSACTION = "/pos/transactions/<transaction_id>"
Answer = str | Response | tuple[str, int]


@bp.get(TRANSACTION)
@requires(Permission.MANAGE_POS)
def pos_transaction(transaction_id: str) -> str:
    return _page(transaction_id)


@bp.post(f"{TRANSACTION}/anomaly")
@requires(Permission.MANAGE_POS)
def pos_resolve_anomaly(transaction_id: str) -> Answer:
    try:
        with transaction():
            settle_anomaly(current_author(), transaction_id, request.form.get("note", ""))
    except (Invalid, Conflict) as error:
        return refused(transaction_id, error)
    return done(transaction_id, "Resolved. The note is in the timeline.")


@bp.get(f"{TRANSACTION}/mails")
@requires(Permission.MANAGE_POS)
def pos_receipt_mails(transaction_id: str) -> str:
    payment = transactions.get_transaction(current_user.site_id, transaction_id)
    mails = mails_of(payment.site_id, payment.id)
    return render_template("admin/pos/transaction/_mails.html", payment=payment, mails=mails)


def done(transaction_id: str, news: str, kind: str = "good") -> Response:
    flash(news, kind)
    return redirect(url_for("admin.pos_transaction", transaction_id=transaction_id))


def refused(transaction_id: str, error: DomainError, form: str = "") -> tuple[str, int]:
    """Return the page with the problems at their fields and with what was typed, unless it was a card's number. `form`
    is the dialog that it was typed in."""
    errors = FieldErrors(error)
    return _page(transaction_id, errors, form), errors.status


def _page(transaction_id: str, errors: FieldErrors | None = None, failed: str = "") -> str:
    site_id = current_user.site_id
    payment = transactions.get_transaction(site_id, transaction_id)
    is_of_processor = payment.processor == ports.payment_processor().name
    return render_template(
        "admin/pos/transaction/page.html",
        payment=payment,
        refunds=refunds_of(site_id, transaction_id),
        steps=timeline.timeline_of(payment),
        time_zone=time_zone_of(site_id),
        emv_labels=RECEIPT_FIELDS,
        type_labels=TYPE_LABELS,
        mails=mails_of(site_id, transaction_id),
        is_open=payment.status in OPEN_STATUSES,
        is_paid=payment.status in PAID_STATUSES,
        refundable=refundable_amount(payment) if payment.status in PAID_STATUSES else 0,
        refund_key=uuid.uuid4().hex,
        is_of_processor=is_of_processor,
        can_settle=payment.processor == ports.processor_to_settle(payment.processor).name,
        can_capture=is_of_processor and payment.status == TransactionStatus.AUTHORIZED,
        errors=errors or FieldErrors(),
        failed=failed,
        sent={name: value for name, value in request.form.items() if not names_card(value)},
    )
