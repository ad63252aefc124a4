"""Baskets on the wire."""

from __future__ import annotations

from typing import Any

from marshmallow import fields, validate

from app.blueprints.v1.api import Body, Shape
from app.blueprints.v1.fields import Few, UtcTime
from app.domain.catalogue.product_rules import LONGEST_SKU
from app.domain.orders.basket import MOST_LINES, MOST_OF_ONE
from app.domain.shared.money import LARGEST
from app.domain.shared.schema import Whole

LINES_EXAMPLE = [{"skuCode": "TENT-04", "quantity": 1}, {"skuCode": "MUG-04", "quantity": 2}]
CREATE_EXAMPLE = {"locationId": "tml_demo_market", "channel": "POS", "lines": LINES_EXAMPLE}
UPDATE_EXAMPLE = {"lines": LINES_EXAMPLE, "revision": 1}
CHANNELS = ("POS", "WEB")
LONGEST_ID = 255
MONEY: dict[str, Any] = {"description": "Minor units.", "example": 12_500}


class LineBody(Body):
    sku_code = fields.Str(
        required=True,
        validate=validate.Length(1, LONGEST_SKU),
        metadata={"description": "Of a product without variants, or of a variant.", "example": "TENT-04"},
    )
    quantity = Whole(
        required=True, validate=validate.Range(1, MOST_OF_ONE), metadata={"minimum": 1, "maximum": MOST_OF_ONE}
    )


def _lines(**more: Any) -> Few:
    described = {"maxItems": MOST_LINES, "description": "A SKU that is named twice makes one line."}
    return Few(fields.Nested(LineBody), MOST_LINES, metadata=described, **more)


def _discount() -> Whole:
    described = MONEY | {"description": "What an agent who may takes off, in minor units.", "minimum": 0, "example": 0}
    return Whole(load_default=0, validate=validate.Range(0, LARGEST), metadata=described)


class CreateBasketBody(Body):
    location_id = fields.Str(
        allow_none=True,
        validate=validate.Length(1, LONGEST_ID),
        metadata={"description": "The till where it is filled.", "example": "tml_demo_market"},
    )
    channel = fields.Str(
        load_default="POS", validate=validate.OneOf(CHANNELS), metadata={"description": "Where the sale is made."}
    )
    lines = _lines(load_default=list)
    discount = _discount()


class UpdateBasketBody(Body):
    """Everything that the basket is to hold."""

    lines = _lines(required=True)
    discount = _discount()
    revision = Whole(required=True, metadata={"description": "The one that was read last."})


class PayBasketBody(Body):
    location_id = fields.Str(
        required=True,
        validate=validate.Length(1, LONGEST_ID),
        metadata={"description": "Where the card is taken.", "example": "tml_demo_market"},
    )


class SubmitBasketBody(Body):
    payment_intent_id = fields.Str(
        allow_none=True,
        validate=validate.Length(1, LONGEST_ID),
        metadata={"description": "The payment to rely on; one of this basket.", "example": "pi_sim_1"},
    )


class BasketLineShape(Shape):
    id = fields.Str(required=True)
    sku_code = fields.Str(required=True)
    name = fields.Str(required=True)
    options = fields.Dict(keys=fields.Str(), values=fields.Str(), required=True)
    quantity = fields.Int(required=True)
    unit_price = fields.Int(required=True, metadata=MONEY)
    line_total = fields.Int(required=True, metadata=MONEY)


class BasketShape(Shape):
    """Prices and totals are the shop’s, in minor units of `currency`, tax included. They are those of today until a
    payment begins, and stay as they are from then on."""

    id = fields.Str(required=True)
    order_number = fields.Str(required=True, metadata={"description": "Of the order that it becomes."})
    status = fields.Str(
        required=True,
        validate=validate.OneOf(["OPEN", "SUBMITTED", "CANCELLED"]),
        metadata={"description": "SUBMITTED: it is an order, handed over or not."},
    )
    channel = fields.Str(required=True, validate=validate.OneOf(CHANNELS))
    location_id = fields.Str(required=True, allow_none=True)
    currency = fields.Str(required=True, metadata={"example": "gbp"})
    lines = fields.List(fields.Nested(BasketLineShape), required=True)
    subtotal = fields.Int(required=True, metadata=MONEY)
    discount = fields.Int(required=True, metadata=MONEY)
    tax = fields.Int(required=True, metadata={"description": "What is added to the prices, in minor units."})
    total = fields.Int(required=True, metadata=MONEY)
    revision = fields.Int(required=True, metadata={"description": "Rises with every change of the contents."})
    payment_state = fields.Str(
        required=True,
        validate=validate.OneOf(["NONE", "IN_PROGRESS", "PAID"]),
        metadata={"description": "The contents can be changed only while it is NONE."},
    )
    created = UtcTime(required=True)
    updated = UtcTime(required=True)


class SubmittedShape(Shape):
    order_id = fields.Str(required=True)
    order_number = fields.Str(required=True)
    status = fields.Str(required=True, validate=validate.OneOf(["SUBMITTED"]))
