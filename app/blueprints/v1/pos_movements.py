"""Cash movements at a till: cash that is paid in, paid out or dropped."""

from __future__ import annotations

from typing import Any

from marshmallow import fields, validate

from app.blueprints.callers import TILL_READS, rate_limited
from app.blueprints.v1.api import LINE, ApiBlueprint, Body, ListShape, PageQuery, Shape, UtcTime
from app.blueprints.v1.callers import cashier, requires_till
from app.blueprints.v1.description import REPLAYED
from app.blueprints.v1.pos_payments import CREATE_REQUESTS, Answer, idempotency_key, may_begin
from app.blueprints.v1.pos_transactions import DAY_OR_TIME, LAST_DAY, MINOR_UNITS
from app.domain.pos.models import PosCashMovement
from app.domain.pos.movements import MovementRequest, MovementType, move_cash, movements_of_location
from app.domain.pos.rules import LARGEST_AMOUNT, LONGEST_REASON
from app.domain.shared.paging import Paged
from app.domain.shared.schema import Text, Whole
from app.operations.work_context import work_context

TYPES = [type_.value for type_ in MovementType]
EXAMPLE = {"type": "DROP", "amountInPence": 20_000, "reason": "To the safe"}
bp = ApiBlueprint("v1_pos_movements", __name__, url_prefix="/v1/pos/<location_id>", tag="POS")


class CashMovementBody(Body):
    type = fields.Str(
        required=True,
        validate=validate.OneOf(TYPES),
        metadata={"description": "`PAY_IN` into the drawer; out of it `PAY_OUT` to spend, `DROP` to the safe."},
    )
    amount_in_pence = Whole(
        required=True, metadata=MINOR_UNITS | {"description": f"In minor units, from 1 to {LARGEST_AMOUNT:,}."}
    )
    reason = Text(
        required=True,
        validate=validate.Length(max=LONGEST_REASON),
        metadata={"description": "Why, for the shop's books; without card numbers."} | LINE,
    )


class CashMovementShape(Shape):
    id = fields.Str(required=True)
    type = fields.Str(required=True, validate=validate.OneOf(TYPES))
    amount_in_pence = fields.Int(required=True, metadata=MINOR_UNITS)
    reason = fields.Str(required=True)
    agent_id = fields.Str(required=True, allow_none=True, metadata={"description": "null: an admin, who is no agent."})
    created = UtcTime(required=True)


class CashMovementsShape(ListShape):
    """A page; past the last one `items` is empty."""

    items = fields.List(fields.Nested(CashMovementShape), required=True)


class MovementsQuery(PageQuery):
    start_date = fields.Str(load_default=None, metadata=DAY_OR_TIME)
    end_date = fields.Str(load_default=None, metadata=LAST_DAY)


@bp.post("/cashMovements")
@requires_till()
@rate_limited(*CREATE_REQUESTS)
@bp.idempotent
@bp.described("createPosCashMovement", 401, 403, 404, 409, 413, 415, 422, 429)
@bp.arguments(CashMovementBody, example=EXAMPLE)
@bp.response(201, CashMovementShape, headers=REPLAYED)
def create(body: dict[str, Any]) -> Answer:
    """Put cash into the drawer of your work session, or take cash out of it, for a reason.

    Agents need the permission (403 `cash_movements_not_permitted`); admins may. With an Idempotency-Key, sending it
    again gives the same movement.
    """
    wanted = MovementRequest(MovementType(body["type"]), body["amount_in_pence"], body["reason"], key=idempotency_key())
    moved = move_cash(work_context(), cashier(), wanted, may_begin)
    return _movement_json(moved.movement), 201, {"Idempotent-Replayed": "true"} if moved.is_replayed else {}


@bp.get("/cashMovements")
@requires_till(settles=True)
@rate_limited(*TILL_READS)
@bp.described("listPosCashMovements", 401, 403, 404, 429)
@bp.arguments(MovementsQuery, location="query")
@bp.response(200, CashMovementsShape)
def cash_movements(query: dict[str, Any]) -> Paged[dict[str, Any]]:
    """The cash movements at a location, the newest first."""
    who, dates = cashier(), (query["start_date"], query["end_date"])
    page = movements_of_location(who.author.site_id, who.location_id, dates, query["page_number"], query["page_size"])
    return Paged([_movement_json(each) for each in page.items], page.page_number, page.page_size, page.total_items)


def _movement_json(movement: PosCashMovement) -> dict[str, Any]:
    return {
        "id": movement.id,
        "type": movement.type,
        "amount_in_pence": movement.amount,
        "reason": movement.reason,
        "agent_id": None if movement.agent_id is None else str(movement.agent_id),
        "created": movement.created_at,
    }
