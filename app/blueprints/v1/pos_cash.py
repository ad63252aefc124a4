"""Payments in cash at a till: taken, and taken back before the order is submitted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from marshmallow import validate

from app.blueprints.callers import rate_limited
from app.blueprints.v1.api import ANY_TEXT, LINE, ApiBlueprint, Body
from app.blueprints.v1.callers import basket_user, cashier, requires_till, till
from app.blueprints.v1.description import LOCATION, REPLAYED
from app.blueprints.v1.pos_payments import (
    CREATE_REQUESTS,
    SETTLES,
    Answer,
    currency_field,
    description_field,
    idempotency_key,
    may_begin,
)
from app.blueprints.v1.pos_transactions import MINOR_UNITS, PosTransactionShape, transaction_json
from app.domain.pos import access
from app.domain.pos.payments.cash import CashRequest, take_cash, void_cash
from app.domain.pos.payments.cashier import Cashier
from app.domain.pos.rules import LARGEST_AMOUNT, LONGEST_REASON
from app.domain.shared.schema import Text, Whole
from app.operations.work_context import work_context

bp = ApiBlueprint("v1_pos_cash", __name__, url_prefix="/v1/pos/<location_id>", tag="POS")
CASH_EXAMPLE = {"amountInPence": 1_250, "tenderedInPence": 2_000, "description": "Two mugs"}
VOID_EXAMPLE = {"reason": "Pays by card instead"}


class CashPaymentBody(Body):
    amount_in_pence = Whole(
        required=True,
        metadata=MINOR_UNITS
        | {"description": f"What is paid of the sale, in minor units, from 1 to {LARGEST_AMOUNT:,}."},
    )
    tendered_in_pence = Whole(
        load_default=None,
        allow_none=True,
        metadata={
            "description": "What the customer hands over, in minor units; null: exactly what is to be paid.",
            "example": 2_000,
        },
    )
    currency = currency_field()
    description = description_field()
    order_id = Text(
        load_default=None,
        allow_none=True,
        metadata={"description": "The order that is paid, a basket's `id`; the amount may be a part of what is due."}
        | ANY_TEXT,
    )


class VoidBody(Body):
    reason = Text(
        required=True,
        validate=validate.Length(max=LONGEST_REASON),
        metadata={"description": "Why, for the shop's books; without card numbers."} | LINE,
    )


@bp.post("/cashPayments")
@requires_till(as_agent=True)
@rate_limited(*CREATE_REQUESTS)
@bp.idempotent
@bp.described("createPosCashPayment", 401, 403, 404, 409, 413, 415, 422, 429)
@bp.arguments(CashPaymentBody, example=CASH_EXAMPLE)
@bp.response(201, PosTransactionShape, headers=LOCATION | REPLAYED)
def create(body: dict[str, Any]) -> Answer:
    """Take a payment in cash, of an order or of an amount alone.

    The shop may round what is paid last of a sale: change is what was handed over less the rounded amount. More than
    is due of an order is refused (422 `amount_exceeds_due`), and so is what a card payment under way may take (409
    `payment_in_progress`). With an Idempotency-Key, sending it again gives the same payment.
    """
    wanted = CashRequest(
        amount=body["amount_in_pence"],
        tendered=body["tendered_in_pence"],
        currency=body["currency"],
        description=body["description"],
        order_id=body["order_id"],
        key=idempotency_key(),
    )
    location = till().location
    assert location is not None, "the address names a location"
    path = f"/v1/pos/{location.location_id}/transactions"  # Before the commit, after which it would be read again.
    taken = take_cash(work_context(), _cashier_of_order(body["order_id"]), wanted, may_begin)
    headers = {"Location": f"{path}/{taken.payment.id}"}
    if taken.is_replayed:
        headers["Idempotent-Replayed"] = "true"
    return transaction_json(taken.payment), 201, headers


@bp.post("/transactions/<transaction_id>/void")
@requires_till(settles=True, as_agent=True)
@rate_limited(*SETTLES)
@bp.idempotent
@bp.described("voidPosCashPayment", 401, 403, 404, 409, 413, 415, 422, 429)
@bp.arguments(VoidBody, example=VOID_EXAMPLE)
@bp.response(200, PosTransactionShape, headers=REPLAYED)
def void(body: dict[str, Any], transaction_id: str) -> Answer:
    """Take back a payment in cash of the same work session, before its order is submitted and the session is closed.
    Doing so again gives the same answer. 409 `void_not_allowed` for any other payment: refund it instead."""
    payment, was_void = void_cash(work_context(), cashier(), transaction_id, body["reason"], idempotency_key())
    return transaction_json(payment), 200, {"Idempotent-Replayed": "true"} if was_void else {}


def _cashier_of_order(order_id: str | None) -> Cashier:
    """Return the caller as the cashier of an order: agents may go on with a basket of a colleague at their location."""
    who = cashier()
    if order_id is not None and access.may_use_basket(basket_user(), who.author.site_id, order_id):
        return replace(who, basket_id=order_id)
    return who
