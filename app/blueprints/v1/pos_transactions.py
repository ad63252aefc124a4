"""The payments of a location as tills see them: by card and in cash, listed and one by one."""

from __future__ import annotations

from typing import Any

from marshmallow import fields, validate

from app.blueprints.callers import TILL_READS, rate_limited
from app.blueprints.v1.api import ANY_TEXT, ApiBlueprint, ListShape, PageQuery, Shape, UtcTime
from app.blueprints.v1.callers import cashier, requires_till
from app.domain.pos.models import PosRefund, PosTransaction
from app.domain.pos.payments.cashier import ORDER_PAYMENT, QUICK_PAYMENT, transaction_of
from app.domain.pos.refunds import RefundState, refunds_of
from app.domain.pos.states import CARD, CASH, TransactionStatus
from app.domain.pos.transactions import PaymentFilter, payments_of_location
from app.domain.shared.paging import Paged

SHOWN = [status.value for status in TransactionStatus if status.shown is status]
TENDERS = (CARD, CASH)
MINOR_UNITS = {"description": "In minor units.", "example": 1_250}
INTENT_ID = {"example": "pi_3Qk1"}
DAY_OR_TIME = {
    "description": "A day in the shop's time zone, or a time (RFC 3339).",
    "example": "2026-11-20",
} | ANY_TEXT
LAST_DAY = DAY_OR_TIME | {"description": "A day in the shop's time zone, which counts as well, or a time."}
bp = ApiBlueprint("v1_pos_transactions", __name__, url_prefix="/v1/pos/<location_id>", tag="POS")


class PosTransactionShape(Shape):
    id = fields.Str(required=True)
    agent_id = fields.Str(required=True)
    tender_type = fields.Str(required=True, validate=validate.OneOf(TENDERS))
    amount_in_pence = fields.Int(
        required=True, metadata=MINOR_UNITS | {"description": "Of the sale, without tip and rounding, in minor units."}
    )
    tip_in_pence = fields.Int(required=True, metadata={"description": "On top of the amount, in minor units."})
    change_in_pence = fields.Int(
        required=True,
        allow_none=True,
        metadata={"description": "Of what was handed over, in minor units; null for cards."},
    )
    rounding_in_pence = fields.Int(
        required=True,
        allow_none=True,
        metadata={"description": "What was paid more (or less) than the amount, in minor units; null for cards."},
    )
    currency = fields.Str(required=True)
    status = fields.Str(required=True, validate=validate.OneOf(SHOWN))
    transaction_type = fields.Str(required=True, validate=validate.OneOf([QUICK_PAYMENT, ORDER_PAYMENT]))
    order_id = fields.Str(required=True, allow_none=True)
    order_number = fields.Str(required=True, allow_none=True)
    card_brand = fields.Str(required=True, allow_none=True, metadata={"example": "visa"})
    card_last4 = fields.Str(required=True, allow_none=True, metadata={"example": "4242"})
    client_sale_id = fields.Str(
        required=True, allow_none=True, metadata={"description": "The app's id of a sale that it made offline."}
    )
    created = UtcTime(required=True)


class PosTransactionRefundShape(Shape):
    id = fields.Str(required=True)
    amount_in_pence = fields.Int(required=True, metadata=MINOR_UNITS)
    tender = fields.Str(required=True, validate=validate.OneOf(TENDERS))
    status = fields.Str(
        required=True,
        validate=validate.OneOf([state.value for state in RefundState]),
        metadata={"description": "FAILED, also days later: the card did not take it, and the money is with the shop."},
    )
    created = UtcTime(required=True)


class PosTransactionDetailShape(PosTransactionShape):
    """With what an app needs to go on with a payment whose answer it lost."""

    payment_intent_id = fields.Str(
        required=True,
        allow_none=True,
        metadata={"description": "null: not known yet whether there is one."} | INTENT_ID,
    )
    refunded_amount = fields.Int(required=True, metadata=MINOR_UNITS)
    refunds = fields.List(
        fields.Nested(PosTransactionRefundShape),
        required=True,
        metadata={"description": "Also those that failed, which `refundedAmount` leaves out; the oldest first."},
    )


class PosTransactionsShape(ListShape):
    """A page; past the last one `items` is empty."""

    items = fields.List(fields.Nested(PosTransactionShape), required=True)


class TransactionsQuery(PageQuery):
    start_date = fields.Str(load_default=None, metadata=DAY_OR_TIME)
    end_date = fields.Str(load_default=None, metadata=LAST_DAY)
    status = fields.Str(load_default=None, validate=validate.OneOf(SHOWN))
    agent_id = fields.Str(load_default=None, metadata=ANY_TEXT)
    tender_type = fields.Str(load_default=None, validate=validate.OneOf(TENDERS))


def transaction_json(payment: PosTransaction) -> dict[str, Any]:
    return {
        "id": payment.id,
        "agent_id": str(payment.agent_id),
        "tender_type": payment.tender_type,
        "amount_in_pence": payment.amount_in_pence,
        "tip_in_pence": payment.tip_in_pence,
        "change_in_pence": payment.change_in_pence,
        "rounding_in_pence": payment.rounding_in_pence,
        "currency": payment.currency,
        "status": TransactionStatus(payment.status).shown.value,
        "transaction_type": payment.type,
        "order_id": payment.order_id,
        "order_number": payment.order_number,
        "card_brand": payment.card_brand,
        "card_last4": payment.card_last4,
        "client_sale_id": payment.client_sale_id,
        "created": payment.created_at,
    }


@bp.get("/transactions")
@requires_till(settles=True)
@rate_limited(*TILL_READS)
@bp.described("listPosTransactions", 401, 403, 404, 429)
@bp.arguments(TransactionsQuery, location="query")
@bp.response(200, PosTransactionsShape)
def transactions(query: dict[str, Any]) -> Paged[dict[str, Any]]:
    """The payments of a location, the newest first."""
    status, agent_id = query["status"], query["agent_id"]
    wanted = PaymentFilter(
        query["start_date"],
        query["end_date"],
        TransactionStatus(status) if status else None,
        None if agent_id is None else _agent_number(agent_id),
        query["tender_type"],
    )
    who = cashier()
    site_id, page_number, page_size = who.author.site_id, query["page_number"], query["page_size"]
    page = payments_of_location(site_id, who.location_id, wanted, page_number, page_size)
    items = [transaction_json(payment) for payment in page.items]
    return Paged(items, page.page_number, page.page_size, page.total_items)


@bp.get("/transactions/<transaction_id>")
@requires_till(settles=True)
@rate_limited(*TILL_READS)
@bp.described("getPosTransaction", 401, 403, 404, 429)
@bp.response(200, PosTransactionDetailShape)
def transaction(transaction_id: str) -> dict[str, Any]:
    """A payment by the id that a 504 named."""
    found = transaction_of(cashier(), transaction_id)
    return transaction_json(found) | {
        "payment_intent_id": found.processor_intent_id,
        "refunded_amount": found.refunded_amount,
        "refunds": [_refund_json(refund) for refund in refunds_of(found.site_id, found.id)],
    }


def _refund_json(refund: PosRefund) -> dict[str, Any]:
    return {
        "id": refund.id,
        "amount_in_pence": refund.amount,
        "tender": refund.tender_type,
        "status": refund.status,
        "created": refund.created_at,
    }


def _agent_number(agent_id: str) -> int:
    """Return the id of an agent; 0, which no agent has, for a text that is no id."""
    return int(agent_id) if agent_id.isascii() and agent_id.isdigit() and len(agent_id) <= 9 else 0
