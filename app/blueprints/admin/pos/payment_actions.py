"""Actions of staff on one payment at the processor: check it now, capture, cancel, refund."""

from __future__ import annotations

from collections.abc import Callable

from flask import request
from flask_login import current_user
from werkzeug.wrappers import Response

from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.pos.transaction import TRANSACTION, Answer, done, refused
from app.blueprints.author import current_author
from app.domain.pos.payments import settlement
from app.domain.pos.processor import PaymentProcessor, ProcessorError
from app.domain.pos.reconciliation import status_updates
from app.domain.pos.refunds import RefundRequest, RefundState, RefundSummary, request_refund
from app.domain.pos.states import TransactionStatus
from app.domain.pos.transactions import get_transaction as payment_of
from app.domain.shared.money import format_money, parse_money
from app.domain.shared.problems import Conflict, Invalid, Unprocessable
from app.permissions import Permission, requires
from app.ports import payment_processor, processor_to_settle
from app.work_context import work_context

LONGEST_KEY = 64
WRONG_AMOUNT = ("amount_invalid", "refund_exceeds_payment")  # Of a refund: shown at its field.
AFTER_CAPTURE = {
    TransactionStatus.SUCCEEDED: ("The money is taken.", "good"),
    TransactionStatus.UNKNOWN: ("The processor did not answer. The shop checks again automatically.", "warn"),
}
NOT_CAPTURED = ("The card still holds the amount, and no money is taken yet. Try again in a moment.", "warn")


@bp.post(f"{TRANSACTION}/check")
@requires(Permission.MANAGE_POS)
def pos_check(transaction_id: str) -> Answer:
    """Request a payment's state from the processor."""

    def ask() -> Response:
        changed = status_updates.check_now(
            work_context(), current_author(), _its_processor(transaction_id), transaction_id
        )
        news = "The status is updated." if changed else "The status has not changed."
        return done(transaction_id, news)

    return _reported(transaction_id, ask)


@bp.post(f"{TRANSACTION}/capture")
@requires(Permission.MANAGE_POS)
def pos_capture(transaction_id: str) -> Answer:
    """Capture a payment that a card holds."""

    def take() -> Response:
        arguments = (current_author(), payment_processor(), current_user.user_id, transaction_id)
        status = settlement.capture_as_admin(work_context(), *arguments)
        return done(transaction_id, *AFTER_CAPTURE.get(status, NOT_CAPTURED))

    return _reported(transaction_id, take)


@bp.post(f"{TRANSACTION}/cancel")
@requires(Permission.MANAGE_POS)
def pos_cancel(transaction_id: str) -> Answer:
    def give_up() -> Response:
        arguments = (current_author(), _its_processor(transaction_id), current_user.user_id, transaction_id)
        if settlement.cancel_as_admin(work_context(), *arguments) is TransactionStatus.UNKNOWN:
            return done(transaction_id, "The processor did not answer. The shop checks again automatically.", "warn")
        return done(transaction_id, "The payment is cancelled. No money was taken.")

    return _reported(transaction_id, give_up)


def _its_processor(transaction_id: str) -> PaymentProcessor:
    return processor_to_settle(payment_of(current_user.site_id, transaction_id).processor)


@bp.post(f"{TRANSACTION}/refunds")
@requires(Permission.MANAGE_POS)
def pos_refund(transaction_id: str) -> Answer:
    """Give back an amount, or all that is left where none is typed. A form that is sent twice is one refund."""

    def give_back() -> Response:
        request = _refund_request(transaction_id)
        try:
            summary = request_refund(work_context(), current_author(), payment_processor(), request)
        except Unprocessable as error:
            if error.code in WRONG_AMOUNT:
                raise Invalid.one(error.code, error.message, "#/amount") from error
            raise
        return done(transaction_id, *_news(summary))

    return _reported(transaction_id, give_back)


def _refund_request(transaction_id: str) -> RefundRequest:
    """Return the refund that the form requests. Raises Invalid."""
    sent = request.form
    typed = sent.get("amount", "").strip()
    payment = payment_of(current_user.site_id, transaction_id)
    amount = parse_money(typed, payment.currency, "#/amount") if typed else None
    return RefundRequest(transaction_id, amount, sent.get("reason", ""), sent.get("key", "")[:LONGEST_KEY] or None)


def _news(summary: RefundSummary) -> tuple[str, str]:
    amount = format_money(summary.amount, summary.currency)
    if summary.status == RefundState.UNKNOWN:
        return f"The processor did not answer whether it gives back {amount}. The shop finds out by itself.", "warn"
    return f"{amount} goes back to the card.", "good"


def _reported(transaction_id: str, action: Callable[[], Response]) -> Answer:
    """Run an action and report its errors: invalid input at its field, a refusal of the processor or the payment as
    news."""
    try:
        return action()
    except Invalid as invalid:
        return refused(transaction_id, invalid, "refund")
    except (Conflict, Unprocessable, ProcessorError) as error:
        return done(transaction_id, error.message, "bad")
