"""The agent who calls, and where they may work."""

from __future__ import annotations

from typing import Any

from app.blueprints.rate_limit import TILL_READS, rate_limited
from app.blueprints.v1.agent_shapes import CurrentPosAgentShape, PosLocationsShape, agent_json, location_json
from app.blueprints.v1.api import ApiBlueprint
from app.blueprints.v1.pos_access import requires_till, till
from app.domain.pos import agents
from app.domain.pos.rules import effective_limit
from app.domain.shared.problems import NotFound
from app.domain.sites.settings import settings_of

bp = ApiBlueprint("v1_pos_agents", __name__, url_prefix="/v1/pos", tag="POS")


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
