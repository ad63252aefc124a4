"""The caller's work session at a till: its opening float, X report and closing."""

from __future__ import annotations

from typing import Any

from marshmallow import fields

from app import ports
from app.blueprints.callers import TILL_READS, rate_limited
from app.blueprints.v1.api import BLOCK, ApiBlueprint, Body, Shape, UtcTime
from app.blueprints.v1.callers import requires_till, till
from app.domain.pos import reports, sessions
from app.domain.pos.models import PosSession
from app.domain.pos.sessions import LONGEST_NOTE, EndReason
from app.domain.shared.money import LARGEST
from app.domain.shared.schema import Text, Whole
from app.transaction import transaction

MINOR_UNITS = {"description": "In minor units.", "example": 12_500}
CASH = {"minimum": 0, "maximum": LARGEST, "description": "In minor units.", "example": 5_000}
bp = ApiBlueprint("v1_pos_sessions", __name__, url_prefix="/v1/pos/sessions/current", tag="POS")


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


@bp.get("")
@requires_till(settles=True)
@rate_limited(*TILL_READS)
@bp.described("getCurrentPosSession", 401, 403, 404, 429)
@bp.response(200, PosSessionShape)
def current() -> dict[str, Any]:
    """The work session that signing in began. 404 (`work_session_not_found`) for a program that signed in to manage
    the shop."""
    return _session_json(sessions.current_session(till().caller))


@bp.put("")
@requires_till(settles=True)
@rate_limited("pos-session", 30)
@bp.described("setPosOpeningFloat", 401, 403, 404, 409, 415, 429)
@bp.arguments(OpeningFloatBody)
@bp.response(200, PosSessionShape)
def set_opening_float(body: dict[str, Any]) -> dict[str, Any]:
    """Say how much cash is in the drawer at the beginning."""
    with transaction():
        session = sessions.current_session(till().caller, to_change=True)
        sessions.set_opening_float(till().author, session, body["opening_float"])
    return _session_json(session)


@bp.get("/report")
@requires_till(settles=True)
@rate_limited(*TILL_READS)
@bp.described("getPosSessionReport", 401, 403, 404, 429)
@bp.response(200, SessionReportShape)
def report() -> dict[str, Any]:
    """The X report: what was taken so far, by brand of card. It changes nothing."""
    return _report_json(sessions.current_session(till().caller))


@bp.post("/close")
@requires_till(settles=True)
@rate_limited("pos-session", 30)
@bp.described("closePosSession", 401, 403, 404, 409, 415, 429)
@bp.arguments(CloseBody)
@bp.response(200, SessionReportShape)
def close(body: dict[str, Any]) -> dict[str, Any]:
    """Close the session with the counted cash, and get its Z report. The caller is signed out."""
    with transaction():
        session = sessions.current_session(till().caller, to_change=True)
        sessions.close(till().author, session, body["counted_cash"], body["closing_note"])
    return _report_json(session)


def _session_json(session: PosSession) -> dict[str, Any]:
    location = sessions.location_of(session)
    location_id = None if location is None else location.location_id
    return {name: getattr(session, name) for name in PosSessionShape().fields} | {"location_id": location_id}


def _report_json(session: PosSession) -> dict[str, Any]:
    report = reports.report_of_session(ports.clock(), session)
    return {
        "type": report.type,
        "generated_at": report.generated_at,
        "session": _session_json(session),
        "currency": report.currency,
        "cards": report.cards,
        "total": report.total,
        "unresolved": report.unresolved,
        "cash_difference": report.cash_difference,
    }
