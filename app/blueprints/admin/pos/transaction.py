"""One payment: all that is known of it, and what staff can do about it: check it at the processor, capture, cancel,
refund to the card or in cash, resolve an anomaly, show or send the receipt."""

from __future__ import annotations

import uuid
from collections.abc import Callable

from flask import flash, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.display import in_shop
from app.blueprints.admin.forms import FieldErrors
from app.blueprints.callers import current_author, recipient_key
from app.blueprints.receipt_links import qr_code, receipt_path
from app.domain.pos import transactions
from app.domain.pos.models import PosTransaction
from app.domain.pos.payments import settlement, surplus
from app.domain.pos.payments.transitions import settle_anomaly
from app.domain.pos.processor import RECEIPT_FIELDS, PaymentProcessor, ProcessorError
from app.domain.pos.receipts import mails_of, request_mail
from app.domain.pos.reconciliation import status_updates
from app.domain.pos.refunds import (
    RefundRequest,
    RefundState,
    RefundSummary,
    refundable_amount,
    refunds_of,
    request_refund,
)
from app.domain.pos.states import (
    CARD,
    CASH,
    OPEN_STATUSES,
    PAID_STATUSES,
    TYPE_LABELS,
    TransactionStatus,
    card_name,
)
from app.domain.shared.card_numbers import names_card
from app.domain.shared.money import format_money, parse_money
from app.domain.shared.problems import Conflict, DomainError, Invalid, TooManyRequests, Unprocessable
from app.domain.sites.settings import settings_of
from app.domain.sites.sites import time_zone_of
from app.operations.work_context import work_context
from app.transaction import transaction
from app.web.permissions import Permission, requires

TRANSACTION = "/pos/transactions/<transaction_id>"
Answer = str | Response | tuple[str, int]
LONGEST_KEY = 64
WRONG_AMOUNT = ("amount_invalid", "refund_exceeds_payment")  # Of a refund: shown at its field.
NO_ANSWER = ("The processor did not answer. The shop checks again automatically.", "warn")
AFTER_CAPTURE = {
    TransactionStatus.SUCCEEDED: ("The money is taken.", "good"),
    TransactionStatus.UNKNOWN: NO_ANSWER,
}
NOT_CAPTURED = ("The card still holds the amount, and no money is taken yet. Try again in a moment.", "warn")
bp.add_app_template_global(qr_code, "qr_code")


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
        return _page_with_problems(transaction_id, error)
    return _redirect_with_news(transaction_id, "Resolved. The note is in the timeline.")


@bp.get(f"{TRANSACTION}/mails")
@requires(Permission.MANAGE_POS)
def pos_receipt_mails(transaction_id: str) -> str:
    payment = transactions.get_transaction(current_user.site_id, transaction_id)
    mails = mails_of(payment.site_id, payment.id)
    return render_template("admin/pos/transaction/_mails.html", payment=payment, mails=mails)


def _redirect_with_news(transaction_id: str, news: str, kind: str = "good") -> Response:
    flash(news, kind)
    return redirect(url_for("admin.pos_transaction", transaction_id=transaction_id))


def _page_with_problems(transaction_id: str, error: DomainError, form: str = "") -> tuple[str, int]:
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
        steps=transactions.timeline_of(payment),
        time_zone=time_zone_of(site_id),
        emv_labels=RECEIPT_FIELDS,
        type_labels=TYPE_LABELS,
        mails=mails_of(site_id, transaction_id),
        is_cash=payment.tender_type == CASH,
        is_open=payment.status in OPEN_STATUSES,
        is_paid=payment.status in PAID_STATUSES,
        can_settle=payment.processor == ports.processor_to_settle(payment.processor).name,
        can_capture=is_of_processor and payment.status == TransactionStatus.AUTHORIZED,
        errors=errors or FieldErrors(),
        failed=failed,
        sent={name: value for name, value in request.form.items() if not names_card(value)},
        **_refund_context(payment, is_of_processor),
    )


def _refund_context(payment: PosTransaction, is_of_processor: bool) -> dict[str, object]:
    """Return what was and can be given back: in cash, and to the card while its processor is in use. The key of what
    was paid too much is the same for everybody who sees as many refunds, so that two of them give it back once."""
    refunds = refunds_of(payment.site_id, payment.id)
    can_refund = payment.status in PAID_STATUSES and (is_of_processor or payment.tender_type == CASH)
    refundable = refundable_amount(payment) if can_refund else 0
    return {
        "refunds": refunds,
        "refundable": refundable,
        "refund_key": uuid.uuid4().hex,
        "refund_tenders": _refund_tenders(payment),
        "surplus": min(refundable, surplus.surplus_of(payment)),
        "surplus_key": f"surplus-{len(refunds)}",
        "surplus_reason": surplus.REASON,
    }


def _refund_tenders(payment: PosTransaction) -> list[tuple[str, str]]:
    """Return the choice of how a payment by card is given back; a shop that takes no cash has none to give."""
    if payment.tender_type == CASH:
        return [(CASH, "In cash")]
    card = (CARD, f"To {card_name(payment.card_brand, payment.card_last4) or 'the card'}")
    return [card, (CASH, "In cash")] if settings_of(payment.site_id)["posAllowCash"] else [card]


@bp.post(f"{TRANSACTION}/check")
@requires(Permission.MANAGE_POS)
def pos_check(transaction_id: str) -> Answer:
    """Request a payment's state from the processor."""

    def check() -> Response:
        changed = status_updates.check_now(
            work_context(), current_author(), _processor_of(transaction_id), transaction_id
        )
        news = "The status is updated." if changed else "The status has not changed."
        return _redirect_with_news(transaction_id, news)

    return _run_action(transaction_id, check)


@bp.post(f"{TRANSACTION}/capture")
@requires(Permission.MANAGE_POS)
def pos_capture(transaction_id: str) -> Answer:
    """Capture a payment that a card holds."""

    def take() -> Response:
        arguments = (current_author(), ports.payment_processor(), current_user.user_id, transaction_id)
        status = settlement.capture_as_admin(work_context(), *arguments)
        return _redirect_with_news(transaction_id, *AFTER_CAPTURE.get(status, NOT_CAPTURED))

    return _run_action(transaction_id, take)


@bp.post(f"{TRANSACTION}/cancel")
@requires(Permission.MANAGE_POS)
def pos_cancel(transaction_id: str) -> Answer:
    def give_up() -> Response:
        arguments = (current_author(), _processor_of(transaction_id), current_user.user_id, transaction_id)
        if settlement.cancel_as_admin(work_context(), *arguments) is TransactionStatus.UNKNOWN:
            return _redirect_with_news(transaction_id, *NO_ANSWER)
        return _redirect_with_news(transaction_id, "The payment is cancelled. No money was taken.")

    return _run_action(transaction_id, give_up)


def _processor_of(transaction_id: str) -> PaymentProcessor:
    return ports.processor_to_settle(transactions.get_transaction(current_user.site_id, transaction_id).processor)


@bp.post(f"{TRANSACTION}/refunds")
@requires(Permission.MANAGE_POS)
def pos_refund(transaction_id: str) -> Answer:
    """Give back an amount, or all that is left where none is typed. A form that is sent twice is one refund."""

    def give_back() -> Response:
        request = _refund_request(transaction_id)
        try:
            summary = request_refund(work_context(), current_author(), ports.payment_processor(), request)
        except Unprocessable as error:
            if error.code in WRONG_AMOUNT:
                raise Invalid.one(error.code, error.message, "#/amount") from error
            raise
        return _redirect_with_news(transaction_id, *_refund_news(summary))

    return _run_action(transaction_id, give_back)


def _refund_request(transaction_id: str) -> RefundRequest:
    """Return the refund that the form requests. Raises Invalid, and Conflict where nothing is too much any more."""
    sent = request.form
    typed = sent.get("amount", "").strip()
    payment = transactions.get_transaction(current_user.site_id, transaction_id)
    key = sent.get("key", "")[:LONGEST_KEY] or None
    if "surplus" in sent:
        return RefundRequest(transaction_id, surplus.amount_to_give_back(payment), surplus.REASON, key)
    amount = parse_money(typed, payment.currency, "#/amount") if typed else None
    tender = sent.get("tender", "")
    return RefundRequest(
        transaction_id,
        amount,
        sent.get("reason", ""),
        key,
        tender_type=tender if tender in (CARD, CASH) else None,
    )


def _refund_news(summary: RefundSummary) -> tuple[str, str]:
    if summary.tender_type == CASH:
        return f"Give the customer {format_money(summary.amount + summary.rounding, summary.currency)} in cash.", "good"
    amount = format_money(summary.amount, summary.currency)
    if summary.status == RefundState.UNKNOWN:
        return f"The processor did not answer whether it gives back {amount}. The shop finds out by itself.", "warn"
    return f"{amount} goes back to the card.", "good"


def _run_action(transaction_id: str, action: Callable[[], Response]) -> Answer:
    """Run an action and report its errors: invalid input at its field, a refusal of the processor or the payment as
    news."""
    try:
        return action()
    except Invalid as invalid:
        return _page_with_problems(transaction_id, invalid, "refund")
    except (Conflict, Unprocessable, ProcessorError) as error:
        return _redirect_with_news(transaction_id, error.message, "bad")


@bp.app_template_global("receipt_url")
def receipt_url(transaction_id: str) -> str:
    """Return the address of a receipt in the shop of the current user."""
    address = in_shop(receipt_path(current_user.site_id, transaction_id))
    return address if "://" in address else f"{request.scheme}://{request.host}{address}"


@bp.post(f"{TRANSACTION}/receipt")
@requires(Permission.MANAGE_POS)
def pos_send_receipt(transaction_id: str) -> Answer:
    try:
        with transaction():
            link = receipt_url(transaction_id)
            request_mail(current_author(), transaction_id, request.form.get("email", ""), link, recipient_key())
    except Invalid as invalid:
        return _page_with_problems(transaction_id, invalid)
    except TooManyRequests as error:
        return _redirect_with_news(transaction_id, error.message, "bad")
    return _redirect_with_news(transaction_id, "The receipt is on its way. The address is forgotten once it is sent.")
