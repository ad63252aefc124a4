"""A site's till as a document: its locations, and its agents by email. Payments are not exported."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import selectinload

from app.domain.pos import agents, locations
from app.domain.pos.models import PosAgent, PosLocation
from app.domain.sites.models import User
from app.extensions import db


def pos(site_id: int) -> dict[str, Any]:
    query = select(PosAgent, User.email).join(User, User.id == PosAgent.user_id).where(PosAgent.site_id == site_id)
    rows = db.session.execute(query.options(selectinload(PosAgent.locations)).order_by(User.email))
    places = sorted(locations.list_locations(site_id), key=lambda place: place.location_id)
    return {"locations": [_location(place) for place in places], "agents": [_agent(*row) for row in rows]}


def _location(place: PosLocation) -> dict[str, Any]:
    address = place.address
    return {
        "id": place.location_id,
        "displayName": place.display_name,
        "address": {
            "line1": address.line1,
            "line2": address.line2,
            "city": address.city,
            "state": address.state,
            "postalCode": address.postal_code,
            "country": address.country,
        },
        "processorAccountId": place.processor_account_id,
        "enabled": place.enabled,
    }


def _agent(agent: PosAgent, email: str) -> dict[str, Any]:
    fields = agents.fields_of(agent)
    return {
        "email": email,
        "displayName": fields.display_name,
        "enabled": agent.enabled,
        "canProcessQuickPayments": fields.can_process_quick_payments,
        "canBuildOrders": fields.can_build_orders,
        "canRefund": fields.can_refund,
        "canDiscount": fields.can_discount,
        "maxTransactionAmount": fields.max_transaction_amount,
        "locations": list(fields.location_ids),
    }
