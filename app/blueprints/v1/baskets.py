"""Baskets of programs and tills: filled by SKU, paid, submitted as orders."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from marshmallow import fields, validate

from app import ports
from app.blueprints.callers import TILL_READS, rate_limited
from app.blueprints.v1.api import ApiBlueprint, Body, Few, Shape, UtcTime
from app.blueprints.v1.callers import basket_user, cashier, requires_till, till, work_at
from app.blueprints.v1.description import LOCATION, REPLAYED
from app.blueprints.v1.pos_payments import (
    CREATE_REQUESTS,
    SETTLES,
    Answer,
    PosPaymentIntentShape,
    begin_payment,
    idempotency_key,
    tip_field,
)
from app.blueprints.v1.pos_transactions import PosTransactionShape, transaction_json
from app.domain.catalogue.product_rules import LONGEST_SKU
from app.domain.orders.basket import MOST_LINES, MOST_OF_ONE
from app.domain.orders.baskets import (
    Owner,
    WantedLine,
    create_basket,
    find_basket,
    replace_lines,
    take_over,
    view_basket,
)
from app.domain.orders.models import Order
from app.domain.pos import access, order_payments
from app.domain.pos.payments import settlement
from app.domain.pos.payments.creation import PaymentRequest
from app.domain.shared.money import LARGEST
from app.domain.shared.schema import Whole
from app.operations.work_context import work_context
from app.transaction import transaction

LINES_EXAMPLE = [{"skuCode": "TENT-04", "quantity": 1}, {"skuCode": "MUG-04", "quantity": 2}]
CREATE_EXAMPLE = {"locationId": "tml_demo_market", "channel": "POS", "lines": LINES_EXAMPLE}
UPDATE_EXAMPLE = {"lines": LINES_EXAMPLE, "revision": 1}
CHANNELS = ("POS", "WEB")
LONGEST_ID = 255
MONEY: dict[str, Any] = {"description": "Minor units.", "example": 12_500}
bp = ApiBlueprint("v1_baskets", __name__, tag="Basket", url_prefix="/v1/basket", description="Baskets")
FILLS = ("pos-basket", 120)  # A minute.


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
    amount_in_pence = Whole(
        load_default=None,
        allow_none=True,
        metadata={"description": "A part of what is due, in minor units; null: all of it.", "example": 5_000},
    )
    tip_in_pence = tip_field()


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
    amount_paid = fields.Int(required=True, metadata=MONEY | {"description": "Less what was given back."})
    amount_due = fields.Int(
        required=True, metadata=MONEY | {"description": "What payments under way may bring counts as due."}
    )
    payments = fields.List(
        fields.Nested(PosTransactionShape), required=True, metadata={"description": "The oldest first."}
    )
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


@bp.post("")
@requires_till(settles=True)
@rate_limited(*FILLS)
@bp.described("createBasket", 401, 403, 404, 409, 415, 422, 429)
@bp.arguments(CreateBasketBody, required=False, example=CREATE_EXAMPLE)
@bp.response(201, BasketShape, headers=LOCATION)
def create(body: dict[str, Any]) -> tuple[dict[str, Any], int, dict[str, str]]:
    """Begin a basket, with or without lines.

    Without a body it is an empty one of the channel `POS`, at no location.
    Agents need the permission to build orders, and another for a discount, which is at most the subtotal (422
    `discount_exceeds_subtotal`). Every line that names nothing for sale is listed in `errors` (400), and
    so is every line of which there is not enough in stock (409 `out_of_stock`).
    """
    access.check_builder(basket_user())
    access.check_discount(basket_user(), body["discount"])
    location_id = body.get("location_id")
    place = work_at(location_id).location_id if location_id else None
    with transaction():
        owner = Owner(till().caller.user_id, body["channel"], place)
        answer = _basket_json(create_basket(till().author, owner, _wanted_lines(body), body["discount"]))
    return answer, 201, {"Location": f"/v1/basket/{answer['id']}"}


@bp.get("/<basket_id>")
@requires_till(settles=True)
@rate_limited(*TILL_READS)
@bp.described("getBasket", 401, 403, 404, 429)
@bp.response(200, BasketShape)
def basket(basket_id: str) -> dict[str, Any]:
    """A basket as it is now, also one that became an order."""
    return _basket_json(_usable_basket(basket_id))


@bp.put("/<basket_id>")
@requires_till(settles=True)
@rate_limited(*FILLS)
@bp.described("updateBasket", 401, 403, 404, 409, 415, 422, 429)
@bp.arguments(UpdateBasketBody, example=UPDATE_EXAMPLE)
@bp.response(200, BasketShape)
def update(body: dict[str, Any], basket_id: str) -> dict[str, Any]:
    """Put exactly these lines into a basket, with this discount or none.

    `revision` is the one that was read last; after another change the answer is 409 `stale_revision` with
    `currentRevision`. While a payment is under way, and once it succeeded, it is 409 `basket_locked`.
    """
    with transaction():
        _usable_basket(basket_id, to_change=True)
        access.check_discount(basket_user(), body["discount"])
        changed = replace_lines(till().author, basket_id, _wanted_lines(body), body["revision"], body["discount"])
        return _basket_json(changed)


@bp.post("/<basket_id>/paymentIntent")
@requires_till(as_agent=True)
@rate_limited(*CREATE_REQUESTS)
@bp.idempotent
@bp.described("createBasketPaymentIntent", 401, 403, 404, 409, 413, 415, 422, 429, 502, 503, 504)
@bp.arguments(PayBasketBody)
@bp.response(201, PosPaymentIntentShape, headers=LOCATION | REPLAYED)
def pay(body: dict[str, Any], basket_id: str) -> Answer:
    """Begin the payment of what is due for a basket, or of a part of it, which the reader then collects.

    The total is computed anew and stays while the payment is under way. Lines that ran out of stock are listed in
    `errors` (409 `out_of_stock`). Agents who go on with the basket of a colleague become its owner; while the colleague
    takes the payment, the answer is 409 `payment_in_progress`. A part above what is due is refused (422
    `amount_exceeds_due`), and so is one that another payment under way may take (409 `payment_in_progress`). What costs
    nothing is submitted without payment.
    """
    place = work_at(body["location_id"])
    with transaction():
        take_over(_usable_basket(basket_id, to_change=True), till().caller.user_id, place.location_id)
    wanted = PaymentRequest(
        amount=body["amount_in_pence"],
        tip=body["tip_in_pence"],
        takes_part=True,
        currency=None,
        order_id=basket_id,
        key=idempotency_key(),
    )
    return begin_payment(replace(cashier(), basket_id=basket_id), wanted)


@bp.put("/<basket_id>/submit")
@requires_till(settles=True)
@rate_limited(*SETTLES)
@bp.described("submitBasket", 401, 403, 404, 409, 415, 429)
@bp.arguments(SubmitBasketBody, required=False)
@bp.response(200, SubmittedShape)
def submit(body: dict[str, Any], basket_id: str) -> dict[str, Any]:
    """Make a paid basket an order; again, it answers the same.

    Stock is counted down once and fulfilment follows once. What was paid is always placed: where stock ran out since
    the payment, staff are shown what is missing. Not paid in full yet: 409 `payment_required` with `amountDueInPence`;
    more was paid than the total: 409 `amount_mismatch`. What costs nothing needs no payment.
    """
    intent_id = body.get("payment_intent_id")
    settlement.read_open_payment(work_context(), ports.payment_processor(), till().author, _usable_basket(basket_id))
    with transaction():
        order = order_payments.submit_basket(till().author, basket_id, intent_id)
        return {"order_id": order.id, "order_number": str(order.number), "status": "SUBMITTED"}


def _usable_basket(basket_id: str, to_change: bool = False) -> Order:
    """Return the basket, once it is checked that the caller may use it."""
    found = find_basket(till().caller.site_id, basket_id, to_change)
    access.check_basket(basket_user(), found)
    return found


def _wanted_lines(body: dict[str, Any]) -> list[WantedLine]:
    return [WantedLine(line["sku_code"], line["quantity"]) for line in body["lines"]]


def _basket_json(order: Order) -> dict[str, Any]:
    view = view_basket(order)
    return {
        "id": order.id,
        "order_number": str(order.number),
        "status": view.status,
        "channel": order.channel,
        "location_id": order.pos_location_id,
        "currency": order.currency,
        "lines": list(view.lines),
        "subtotal": view.subtotal,
        "discount": order.discount,
        "tax": order.tax,
        "total": view.total,
        "amount_paid": order.paid_amount,
        "amount_due": view.amount_due,
        "payments": [transaction_json(payment) for payment in order_payments.transactions_of(order)],
        "revision": order.revision,
        "payment_state": view.payment_state.value,
        "created": order.created_at,
        "updated": order.updated_at,
    }
