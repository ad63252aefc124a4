"""Agents, locations and work sessions on the wire."""

from __future__ import annotations

from typing import Any

from marshmallow import fields

from app.blueprints.v1.api import Body, Shape
from app.blueprints.v1.fields import BLOCK, UtcTime
from app.domain.pos.models import PosAgent, PosLocation, PosSession
from app.domain.pos.report_figures import SessionReport
from app.domain.pos.sessions import LONGEST_NOTE, EndReason
from app.domain.shared.money import LARGEST
from app.domain.shared.schema import Text, Whole

MINOR_UNITS = {"description": "In minor units.", "example": 12_500}
CASH = {"minimum": 0, "maximum": LARGEST, "description": "In minor units.", "example": 5_000}


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
    max_transaction_amount = fields.Int(
        required=True, allow_none=True, metadata={"description": "In minor units; null: the site’s limit holds."}
    )


class CurrentPosAgentShape(PosAgentShape):
    """The agent who calls, where they may work, and the largest payment that they may take."""

    locations = fields.List(fields.Nested(PosLocationShape), required=True)
    effective_max_amount = fields.Int(
        required=True, metadata={"description": "The lower one of the agent’s limit and the site’s, in minor units."}
    )


class PosSessionShape(Shape):
    id = fields.Str(required=True)
    agent_id = fields.Str(required=True, allow_none=True, metadata={"description": "null: an admin, who is no agent."})
    location_id = fields.Str(required=True, allow_none=True, metadata={"description": "Where it was used last."})
    device_id = fields.Str(required=True, allow_none=True)
    device_name = fields.Str(required=True, allow_none=True)
    started_at = UtcTime(required=True)
    last_seen_at = UtcTime(required=True)
    expires_at = UtcTime(required=True)
    ended_at = UtcTime(required=True, allow_none=True)
    end_reason = fields.Str(
        required=True, allow_none=True, metadata={"description": f"One of {', '.join(EndReason)}; null: it is open."}
    )
    currency = fields.Str(required=True, metadata={"example": "gbp"})
    opening_float = fields.Int(required=True, allow_none=True, metadata=MINOR_UNITS)
    counted_cash = fields.Int(required=True, allow_none=True, metadata=MINOR_UNITS)
    closing_note = fields.Str(required=True)
    closed_at = UtcTime(required=True, allow_none=True)


class OpeningFloatBody(Body):
    opening_float = Whole(required=True, metadata=CASH)


class CloseBody(Body):
    counted_cash = Whole(required=True, metadata=CASH)
    closing_note = Text(load_default="", metadata=BLOCK | {"maxLength": LONGEST_NOTE})


class SumsShape(Shape):
    count = fields.Int(required=True, metadata={"description": "Payments that were taken."})
    gross = fields.Int(required=True, metadata=MINOR_UNITS)
    refund_count = fields.Int(required=True)
    refunds = fields.Int(required=True, metadata=MINOR_UNITS)
    net = fields.Int(required=True, metadata={"description": "Gross less refunds, in minor units."})


class BrandSumsShape(SumsShape):
    card_brand = fields.Str(required=True, metadata={"example": "visa"})


class UnresolvedShape(Shape):
    """Payments of which it is not known yet, or was not when the session was closed, whether they were taken; no other
    number counts them."""

    count = fields.Int(required=True)
    amount = fields.Int(required=True, metadata=MINOR_UNITS)


class SessionReportShape(Shape):
    type = fields.Str(required=True, metadata={"description": "`X` while the session is open, `Z` once it is closed."})
    generated_at = UtcTime(required=True)
    session = fields.Nested(PosSessionShape, required=True)
    currency = fields.Str(required=True)
    cards = fields.List(fields.Nested(BrandSumsShape), required=True, metadata={"description": "By brand of card."})
    total = fields.Nested(SumsShape, required=True)
    unresolved = fields.Nested(UnresolvedShape, required=True)
    cash_difference = fields.Int(
        required=True, allow_none=True, metadata={"description": "Counted cash less opening float; null before both."}
    )


def location_json(location: PosLocation) -> dict[str, Any]:
    return {"id": location.location_id, "display_name": location.display_name, "address": location.address}


def agent_json(agent: PosAgent) -> dict[str, Any]:
    names = PosAgentShape().fields
    return {name: getattr(agent, name) for name in names}


def session_json(session: PosSession, location_id: str | None) -> dict[str, Any]:
    return {name: getattr(session, name) for name in PosSessionShape().fields} | {"location_id": location_id}


def report_json(report: SessionReport, session: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": report.type,
        "generated_at": report.generated_at,
        "session": session,
        "currency": report.currency,
        "cards": report.cards,
        "total": report.total,
        "unresolved": report.unresolved,
        "cash_difference": report.cash_difference,
    }
