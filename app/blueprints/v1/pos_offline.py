"""Sales in cash that a till made without a network, sent once it has one again."""

from __future__ import annotations

from typing import Any

from flask import g, request
from marshmallow import fields, validate

from app.blueprints.callers import rate_limited
from app.blueprints.v1.api import ApiBlueprint, Body, Shape, Unread, body_of
from app.blueprints.v1.callers import cashier, requires_till, till
from app.domain.pos.offline_sale_rules import MOST_SALES, OFFLINE_LINE, OFFLINE_SALE
from app.domain.pos.offline_sales import SaleOutcome, SaleResult, book_sales
from app.operations.work_context import work_context

LARGEST_BODY = 2 * 1024 * 1024  # Bytes: 100 sales of 50 lines with notes.
SALES_EXAMPLE: dict[str, Any] = {
    "sales": [
        {
            "clientSaleId": "0b9c2f0e-7f0a-4c55-9a3e-5d8f0f6f1a01",
            "soldAt": "2026-11-20T21:04:05Z",
            "lines": [{"skuCode": "MUG-04", "quantity": 2, "unitPriceInPence": 625}],
            "tenderedInPence": 2_000,
        }
    ]
}
bp = ApiBlueprint("v1_pos_offline", __name__, url_prefix="/v1/pos/<location_id>", tag="POS")


class OfflineLineBody(body_of(OFFLINE_LINE)):  # type: ignore[misc]
    pass


class OfflineSaleBody(body_of(OFFLINE_SALE, lines=OfflineLineBody)):  # type: ignore[misc]
    """A sale as the app wrote it down. What is wrong with one is said in its item of the answer."""


class OfflineSalesBody(Body):
    sales = Unread(
        fields.Nested(OfflineSaleBody),
        required=True,
        validate=validate.Length(max=MOST_SALES),
        metadata={"maxItems": MOST_SALES},
    )


class SaleRemarkShape(Shape):
    code = fields.Str(required=True, metadata={"description": "A stable word for programs."})
    detail = fields.Str(required=True)


class OfflineSaleShape(Shape):
    """What became of a sale. An accepted one, and a duplicate, which was accepted before, are an order and a payment;
    `notes` say how it differs from the shop's books. A refused one has its `problem`."""

    client_sale_id = fields.Str(required=True, allow_none=True, metadata={"description": "As it was sent."})
    result = fields.Str(required=True, validate=validate.OneOf([result.value for result in SaleResult]))
    order_id = fields.Str()
    transaction_id = fields.Str()
    notes = fields.List(fields.Nested(SaleRemarkShape), required=True)
    problem = fields.Nested(SaleRemarkShape)


class OfflineSalesShape(Shape):
    items = fields.List(
        fields.Nested(OfflineSaleShape), required=True, metadata={"description": "In the order that was sent."}
    )


@bp.url_value_preprocessor
def _let_many_sales_in(endpoint: str | None, _values: dict[str, Any] | None) -> None:
    if endpoint == "v1_pos_offline.book":
        request.max_content_length = LARGEST_BODY
        g.unsound_in = "sales"  # A sale with such a text refuses itself alone.


@bp.post("/offlineSales")
@requires_till(as_agent=True)
@rate_limited("pos-offline", 30)
@bp.described("bookPosOfflineSales", 401, 403, 404, 409, 413, 415, 429)
@bp.arguments(OfflineSalesBody, example=SALES_EXAMPLE)
@bp.response(200, OfflineSalesShape)
def book(body: dict[str, Any]) -> dict[str, Any]:
    """Book sales in cash that were made without a network, each with the prices that the customer saw.

    Each is booked once by its `clientSaleId`: send it again until it was answered. Stock that ran out and prices that
    changed meanwhile are `notes` for staff. A sale that cannot be true is refused alone: `unknown_sku`,
    `sale_in_future`, `sale_too_old` (over seven days) or `invalid_sale`. A sale counts in the work session in which it
    was made, or in this one once that is closed.
    """
    location = till().location
    assert location is not None, "the address names a location"
    outcomes = book_sales(work_context(), cashier(), location.location_id, body["sales"])
    return {"items": [_outcome_json(outcome) for outcome in outcomes]}


def _outcome_json(outcome: SaleOutcome) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "client_sale_id": outcome.client_sale_id,
        "result": outcome.result.value,
        "notes": outcome.notes,
    }
    if outcome.refusal is not None:
        code, detail = outcome.refusal
        return answer | {"problem": {"code": code, "detail": detail}}
    return answer | {"order_id": outcome.order_id, "transaction_id": outcome.transaction_id}
