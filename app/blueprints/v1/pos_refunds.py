"""Giving money back at a till."""

from __future__ import annotations

from typing import Any

from marshmallow import fields, validate

from app import ports
from app.blueprints.callers import rate_limited
from app.blueprints.v1.api import LINE, ApiBlueprint, Body, Shape, UtcTime
from app.blueprints.v1.callers import cashier, requires_till, till
from app.blueprints.v1.description import REPLAYED, RETRY_AFTER
from app.blueprints.v1.pos_payments import LATER, Answer, idempotency_key
from app.blueprints.v1.pos_transactions import MINOR_UNITS, TENDERS
from app.domain.pos.refunds import RefundRequest, RefundState, RefundSummary, request_refund
from app.domain.pos.rules import LONGEST_REASON
from app.domain.shared.schema import Text, Whole
from app.operations.work_context import work_context

bp = ApiBlueprint("v1_pos_refunds", __name__, url_prefix="/v1/pos/<location_id>", tag="POS")
EXAMPLE = {"amountInPence": 500, "reason": "One mug was broken"}


class RefundBody(Body):
    amount_in_pence = Whole(
        metadata=MINOR_UNITS | {"description": "In minor units; without it, all that is left. Not null."},
    )
    reason = Text(
        required=True,
        validate=validate.Length(max=LONGEST_REASON),
        metadata={"description": "Why, for the shop's books; without card numbers."} | LINE,
    )
    tender = fields.Str(
        load_default=None,
        allow_none=True,
        validate=validate.OneOf(TENDERS),
        metadata={"description": "How it is given back; null: as it was paid. CARD only for card payments."},
    )


class PosRefundShape(Shape):
    """The shop itself finds out how one that is UNKNOWN or PENDING ends; its key shows how it stands."""

    id = fields.Str(required=True)
    transaction_id = fields.Str(required=True)
    tender = fields.Str(required=True, validate=validate.OneOf(TENDERS))
    amount_in_pence = fields.Int(required=True, metadata=MINOR_UNITS)
    rounding_in_pence = fields.Int(
        required=True, metadata={"description": "What was given more (or less) than the amount, since cash is rounded."}
    )
    currency = fields.Str(required=True)
    reason = fields.Str(required=True)
    status = fields.Str(required=True, validate=validate.OneOf([state.value for state in RefundState]))
    created = UtcTime(required=True)


@bp.post("/transactions/<transaction_id>/refunds")
@requires_till(settles=True)
@rate_limited("pos-refund", 60)
@bp.idempotent
@bp.described("createPosRefund", 401, 403, 404, 409, 413, 415, 422, 429, 502)
@bp.arguments(RefundBody, example=EXAMPLE)
@bp.alt_response(202, schema=PosRefundShape, headers=RETRY_AFTER | REPLAYED, description="Not known yet: ask again.")
@bp.response(201, PosRefundShape, headers=REPLAYED)
def refund(body: dict[str, Any], transaction_id: str) -> Answer:
    """Give back a payment, or a part of it.

    Agents who may give refunds do so for payments of their own, admins for all of the location. What is refunded in
    all never exceeds what was paid. Send it again with the same Idempotency-Key where no answer came. One that failed
    gives an error under its key; give a new key to try once more.
    """
    at = till()
    wanted = RefundRequest(
        transaction_id,
        body.get("amount_in_pence"),
        body["reason"],
        idempotency_key(),
        agent=None if at.is_admin else at.agent,
        location_id=cashier().location_id,
        tender_type=body["tender"],
        session_id=at.session_id,
    )
    made = request_refund(work_context(), at.author, ports.payment_processor(), wanted)
    status, headers = (201, {}) if made.is_settled else (202, dict(LATER))
    return _refund_json(made), status, headers | ({"Idempotent-Replayed": "true"} if made.is_replayed else {})


def _refund_json(made: RefundSummary) -> dict[str, Any]:
    return {
        "id": made.id,
        "transaction_id": made.transaction_id,
        "tender": made.tender_type,
        "amount_in_pence": made.amount,
        "rounding_in_pence": made.rounding,
        "currency": made.currency,
        "reason": made.reason,
        "status": made.status,
        "created": made.created_at,
    }
