"""Receipts of card payments: by email, and the link and picture that a till shows to the customer."""

from __future__ import annotations

from typing import Any

from flask import request
from marshmallow import fields, validate

from app.blueprints.callers import rate_limited, recipient_key
from app.blueprints.receipt_links import qr_code, receipt_path
from app.blueprints.v1.api import ANY_TEXT, ApiBlueprint, Body, Shape
from app.blueprints.v1.callers import cashier, requires_till
from app.domain.orders.basket import LONGEST_EMAIL
from app.domain.pos.models import PosTransaction
from app.domain.pos.payments.cashier import transaction_of
from app.domain.pos.receipts import receipt_of, request_mail
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


class ShownReceiptShape(ReceiptShape):
    qr_svg = fields.Str(required=True, metadata={"description": "The link as a QR code.", "example": "<svg …></svg>"})


@bp.get(RECEIPT)
@requires_till(settles=True)
@rate_limited("pos-read", 120)
@bp.described("getPosReceipt", 401, 403, 404, 429)
@bp.response(200, ShownReceiptShape)
def receipt(transaction_id: str) -> dict[str, Any]:
    """The link to the receipt of a payment that was made, and its QR code for the customer's phone."""
    payment = transaction_of(cashier(), transaction_id)
    receipt_of(payment.site_id, payment.id)
    url = _url(payment)
    return {"transaction_id": payment.id, "url": url, "qr_svg": str(qr_code(url))}


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
