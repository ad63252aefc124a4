"""The agent who calls, and where they may work."""

from __future__ import annotations

from typing import Any

from marshmallow import fields

from app.blueprints.callers import TILL_READS, rate_limited
from app.blueprints.v1.api import ApiBlueprint, Shape
from app.blueprints.v1.callers import requires_till, till
from app.domain.pos import agents
from app.domain.pos.models import PosAgent, PosLocation
from app.domain.pos.rules import effective_limit
from app.domain.shared.problems import NotFound
from app.domain.sites.settings import settings_of

bp = ApiBlueprint("v1_pos_agents", __name__, url_prefix="/v1/pos", tag="POS")


class AddressShape(Shape):
    line1 = fields.Str(required=True)
    line2 = fields.Str(required=True)
    city = fields.Str(required=True)
    state = fields.Str(required=True)
    postal_code = fields.Str(required=True)
    country = fields.Str(required=True, metadata={"description": "ISO 3166-1 alpha-2.", "example": "GB"})


class PosLocationShape(Shape):
    id = fields.Str(required=True, metadata={"description": "The payment processor’s, too.", "example": "tml_1"})
    display_name = fields.Str(required=True, metadata={"example": "Spring fair"})
    address = fields.Nested(AddressShape, required=True)


class PosLocationsShape(Shape):
    items = fields.List(fields.Nested(PosLocationShape), required=True)


class PosAgentShape(Shape):
    id = fields.Str(required=True)
    user_id = fields.Str(required=True)
    display_name = fields.Str(required=True)
    enabled = fields.Bool(required=True)
    can_process_quick_payments = fields.Bool(required=True)
    can_build_orders = fields.Bool(required=True)
    can_refund = fields.Bool(required=True)
    can_discount = fields.Bool(required=True)
    can_take_cash = fields.Bool(required=True)
    can_move_cash = fields.Bool(required=True)
    max_transaction_amount = fields.Int(
        required=True, allow_none=True, metadata={"description": "In minor units; null: the site’s limit holds."}
    )


class CurrentPosAgentShape(PosAgentShape):
    """The agent who calls, where they may work, and the largest payment that they may take."""

    locations = fields.List(fields.Nested(PosLocationShape), required=True)
    effective_max_amount = fields.Int(
        required=True, metadata={"description": "The lower one of the agent’s limit and the site’s, in minor units."}
    )


def location_json(location: PosLocation) -> dict[str, Any]:
    return {"id": location.location_id, "display_name": location.display_name, "address": location.address}


def agent_json(agent: PosAgent) -> dict[str, Any]:
    names = PosAgentShape().fields
    return {name: getattr(agent, name) for name in names}


@bp.get("/locations")
@requires_till(settles=True)
@rate_limited(*TILL_READS)
@bp.described("listPosLocations", 401, 403, 429)
@bp.response(200, PosLocationsShape)
def locations() -> dict[str, Any]:
    """Where the caller may take payments: agents where they were assigned, admins at every location of the shop."""
    return {"items": _places()}


@bp.get("/agents/me")
@requires_till(settles=True)
@rate_limited(*TILL_READS)
@bp.described("getCurrentPosAgent", 401, 403, 404, 429)
@bp.response(200, CurrentPosAgentShape)
def current_agent() -> dict[str, Any]:
    """What the caller may do at a till.

    An admin who is no agent gets 404 (`agent_not_found`); a user with the role who is none gets 403
    (`agent_required`).
    """
    agent = till().agent
    if agent is None:
        raise NotFound("You are no agent of this shop.", "agent_not_found")
    site_limit = settings_of(agent.site_id)["posMaxTransactionAmount"]
    limit = effective_limit(agent.max_transaction_amount, site_limit)
    return agent_json(agent) | {"locations": _places(), "effective_max_amount": limit.amount}


def _places() -> list[dict[str, Any]]:
    caller = till().caller
    return [location_json(place) for place in agents.locations_of(caller.site_id, caller.roles, till().agent)]
