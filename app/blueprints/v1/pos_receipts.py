"""Receipts of card payments: by email, and the link and picture that a till shows to the customer."""

from __future__ import annotations

from typing import Any

from flask import request
from marshmallow import fields, validate

from app.blueprints.callers import rate_limited, recipient_key
from app.blueprints.receipt_links import qr_code, receipt_path
from app.blueprints.v1.api import ANY_TEXT, ApiBlueprint, Body, Shape, UtcTime
from app.blueprints.v1.callers import cashier, requires_till
from app.blueprints.v1.pos_transactions import MINOR_UNITS, TENDERS
from app.domain.orders.basket import LONGEST_EMAIL
from app.domain.pos.models import PosTransaction
from app.domain.pos.payments.cashier import transaction_of
from app.domain.pos.receipt_content import Receipt
from app.domain.pos.receipts import receipt_of, request_mail
from app.domain.pos.states import CARD, CASH
from app.domain.shared.schema import Text
from app.transaction import transaction

bp = ApiBlueprint("v1_pos_receipts", __name__, url_prefix="/v1/pos/<location_id>", tag="POS")
RECEIPT = "/transactions/<transaction_id>/receipt"


class ReceiptBody(Body):
    email = Text(
        required=True,
        validate=validate.Length(min=1, max=LONGEST_EMAIL),
        metadata={"description": "Kept until the receipt is sent, at most for three days."} | ANY_TEXT,
    )


class ReceiptShape(Shape):
    transaction_id = fields.Str(required=True)
    url = fields.Str(required=True, metadata={"description": "The receipt for who has this link.", "format": "uri"})


class ReceiptLineShape(Shape):
    name = fields.Str(required=True)
    detail = fields.Str(required=True, metadata={"description": "The options of a variant.", "example": "Size: M"})
    quantity = fields.Int(required=True)
    unit_price = fields.Int(required=True, metadata=MINOR_UNITS)
    line_total = fields.Int(required=True, attribute="total", metadata=MINOR_UNITS)


class OtherPaymentShape(Shape):
    """Another payment of the same order, without its tip and what was given back."""

    tender = fields.Str(required=True, validate=validate.OneOf(TENDERS))
    amount = fields.Int(required=True, metadata=MINOR_UNITS)


class CardFieldShape(Shape):
    label = fields.Str(required=True, metadata={"example": "Authorisation code"})
    value = fields.Str(required=True, metadata={"example": "123456"})


class ReceiptRefundShape(Shape):
    at = UtcTime(required=True)
    tender = fields.Str(required=True, validate=validate.OneOf(TENDERS))
    amount = fields.Int(required=True, metadata=MINOR_UNITS)
    rounding = fields.Int(
        required=True, metadata={"description": "What was handed out more (or less) than the amount, in minor units."}
    )


class ReceiptContentShape(Shape):
    """What a till prints. Money in minor units of `currency`; times are to be shown in `timeZone`."""

    shop = fields.Str(required=True)
    location = fields.Str(required=True)
    address = fields.List(fields.Str(), required=True, metadata={"description": "Line by line."})
    number = fields.Str(required=True)
    order_number = fields.Str(required=True, allow_none=True)
    paid_at = UtcTime(required=True)
    time_zone = fields.Str(required=True, metadata={"example": "Europe/London"})
    currency = fields.Str(required=True, metadata={"example": "gbp"})
    lines = fields.List(fields.Nested(ReceiptLineShape), required=True, metadata={"description": "Of the order."})
    subtotal = fields.Int(required=True, metadata=MINOR_UNITS | {"description": "0 without an order."})
    discount = fields.Int(required=True, metadata={"description": "In minor units."})
    tax = fields.Int(required=True, metadata={"description": "In minor units."})
    other_payments = fields.List(
        fields.Nested(OtherPaymentShape),
        required=True,
        metadata={"description": "Of the same order, the oldest first."},
    )
    tender = fields.Str(required=True, validate=validate.OneOf(TENDERS))
    paid = fields.Int(required=True, metadata=MINOR_UNITS | {"description": "Without the tip, in minor units."})
    tip = fields.Int(required=True, metadata={"description": "In minor units."})
    handed_over = fields.Int(required=True, allow_none=True, metadata={"description": "null for cards."})
    change = fields.Int(required=True, allow_none=True, metadata={"description": "null for cards."})
    rounding = fields.Int(
        required=True,
        allow_none=True,
        metadata={"description": "What was to be handed over more (or less) than was paid; null for cards."},
    )
    card = fields.List(
        fields.Nested(CardFieldShape),
        required=True,
        metadata={"description": "What card schemes want on a receipt, in words; nothing for cash."},
    )
    refunds = fields.List(fields.Nested(ReceiptRefundShape), required=True)


class ShownReceiptShape(ReceiptShape):
    qr_svg = fields.Str(required=True, metadata={"description": "The link as a QR code.", "example": "<svg …></svg>"})
    receipt = fields.Nested(ReceiptContentShape, required=True)


@bp.get(RECEIPT)
@requires_till(settles=True)
@rate_limited("pos-read", 120)
@bp.described("getPosReceipt", 401, 403, 404, 429)
@bp.response(200, ShownReceiptShape)
def receipt(transaction_id: str) -> dict[str, Any]:
    """The link to the receipt of a payment that was made, its QR code for the customer's phone, and its content for a
    printer."""
    payment = transaction_of(cashier(), transaction_id)
    content = _content_json(receipt_of(payment.site_id, payment.id))
    url = _url(payment)
    return {"transaction_id": payment.id, "url": url, "qr_svg": str(qr_code(url)), "receipt": content}


@bp.post(RECEIPT)
@requires_till(settles=True)
@rate_limited("pos-receipt", 30)
@bp.described("sendPosReceipt", 401, 403, 404, 413, 415, 429)
@bp.arguments(ReceiptBody)
@bp.response(202, ReceiptShape)
def send_receipt(body: dict[str, Any], transaction_id: str) -> dict[str, Any]:
    """Mail the receipt of a payment that was made. It is sent in the background.

    At most ten times a day, and ten receipts an hour and twenty a day to one address.
    """
    who = cashier()
    payment = transaction_of(who, transaction_id)
    url, payment_id = _url(payment), payment.id
    with transaction():
        request_mail(who.author, payment_id, body["email"], url, recipient_key())
    return {"transaction_id": payment_id, "url": url}


def _url(payment: PosTransaction) -> str:
    """Return the receipt's address at the host of the request, which is one of the shop's."""
    return f"{request.scheme}://{request.host}{receipt_path(payment.site_id, payment.id)}"


def _content_json(receipt: Receipt) -> dict[str, Any]:
    bought, cash = receipt.purchase, receipt.cash
    same = ("shop", "location", "address", "number", "order_number", "paid_at", "time_zone", "currency", "paid", "tip")
    return {name: getattr(receipt, name) for name in same} | {
        "lines": bought.lines,
        "subtotal": bought.subtotal,
        "discount": bought.discount,
        "tax": bought.tax,
        "other_payments": [{"tender": _tender(paid.in_cash), "amount": paid.amount} for paid in receipt.others],
        "tender": _tender(cash is not None),
        "handed_over": cash and cash.handed_over,
        "change": cash and cash.change,
        "rounding": cash and cash.rounding,
        "card": [{"label": label, "value": value} for label, value in receipt.card],
        "refunds": [
            {"at": made.at, "tender": _tender(made.in_cash), "amount": made.amount, "rounding": made.rounding}
            for made in receipt.refunds
        ],
    }


def _tender(in_cash: bool) -> str:
    return CASH if in_cash else CARD
