"""Work sessions at a till: the caller's own with its opening float; X and Z reports of those that they may close."""

from __future__ import annotations

from typing import Any

from marshmallow import fields

from app import ports
from app.blueprints.callers import TILL_READS, rate_limited
from app.blueprints.v1.api import BLOCK, ApiBlueprint, Body, Shape, UtcTime
from app.blueprints.v1.callers import requires_till, till
from app.domain.pos import reports, sessions
from app.domain.pos.models import PosSession
from app.domain.pos.report_figures import LocationSums, SessionReport, Sums
from app.domain.pos.sessions import LONGEST_NOTE, EndReason
from app.domain.shared.money import LARGEST
from app.domain.shared.schema import Text, Whole
from app.domain.sites.api_sessions import Because
from app.transaction import transaction

MINOR_UNITS = {"description": "In minor units.", "example": 12_500}
CASH = {"minimum": 0, "maximum": LARGEST, "description": "In minor units.", "example": 5_000}
SESSION = "/<session_id>"  # An id, or `current`.
bp = ApiBlueprint("v1_pos_sessions", __name__, url_prefix="/v1/pos/sessions", tag="POS")


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


class UnresolvedRefundsShape(Shape):
    """Refunds of which it is not known yet, or was not when the session was closed, whether they were made; no other
    number counts them."""

    count = fields.Int(required=True)
    amount = fields.Int(required=True, metadata=MINOR_UNITS)


class SalesShape(Shape):
    sales = fields.Int(required=True, metadata={"description": "Without tips, in minor units."})
    count = fields.Int(required=True, metadata={"description": "Payments that were taken."})


class TenderShape(SalesShape):
    refunds = fields.Int(
        required=True, metadata={"description": "That the session made, whoever took the payments; in minor units."}
    )


class BrandTenderShape(TenderShape):
    brand = fields.Str(required=True, metadata={"example": "visa"})


class CardTenderShape(TenderShape):
    by_brand = fields.List(fields.Nested(BrandTenderShape), required=True)


class TendersShape(Shape):
    cash = fields.Nested(TenderShape, required=True)
    card = fields.Nested(CardTenderShape, required=True)


class MovementsShape(Shape):
    """Cash that was moved other than by payments, in minor units."""

    pay_in = fields.Int(required=True)
    pay_out = fields.Int(required=True)
    drop = fields.Int(required=True)


class OtherLocationShape(Shape):
    location_id = fields.Str(required=True)
    display_name = fields.Str(required=True)
    cash = fields.Nested(SalesShape, required=True)
    card = fields.Nested(SalesShape, required=True)


class SessionReportShape(Shape):
    type = fields.Str(required=True, metadata={"description": "`X` while the session is open, `Z` once it is closed."})
    generated_at = UtcTime(required=True)
    session = fields.Nested(PosSessionShape, required=True)
    currency = fields.Str(required=True)
    cards = fields.List(fields.Nested(BrandSumsShape), required=True, metadata={"description": "By brand of card."})
    total = fields.Nested(SumsShape, required=True, metadata={"description": "Of all tenders."})
    unresolved = fields.Nested(UnresolvedShape, required=True)
    unresolved_refunds = fields.Nested(UnresolvedRefundsShape, required=True)
    tenders = fields.Nested(TendersShape, required=True)
    tips = fields.Int(required=True, metadata=MINOR_UNITS | {"description": "In no other sum; in minor units."})
    tips_refunded = fields.Int(
        required=True, metadata=MINOR_UNITS | {"description": "The part of the refunds that was tip, in minor units."}
    )
    rounding = fields.Int(
        required=True,
        metadata={"description": "What the drawer got more (or less) by rounding cash, in minor units.", "example": 2},
    )
    movements = fields.Nested(MovementsShape, required=True)
    opening_float = fields.Int(required=True, allow_none=True, metadata=MINOR_UNITS)
    expected_cash = fields.Int(
        required=True,
        metadata=MINOR_UNITS
        | {"description": "Opening float, cash sales and rounding less cash refunds, and movements; in minor units."},
    )
    counted_cash = fields.Int(required=True, allow_none=True, metadata=MINOR_UNITS)
    difference = fields.Int(
        required=True, allow_none=True, metadata={"description": "Counted less expected cash; null before counting."}
    )
    cash_difference = fields.Int(
        required=True,
        allow_none=True,
        metadata={"description": "The same; null also without an opening float."},
    )
    other_locations = fields.List(
        fields.Nested(OtherLocationShape),
        required=True,
        metadata={
            "description": "Payments that were taken elsewhere than where the session was opened, counted above."
        },
    )
    z_number = fields.Int(
        required=True,
        allow_none=True,
        metadata={"description": "From 1, without gaps, at the location where the session was opened.", "example": 12},
    )
    journal_head = fields.Str(
        required=True,
        allow_none=True,
        metadata={
            "description": "Hash of the journal's latest entry, of a Z report that of its own; null for one from "
            "before there was a journal."
        },
    )


@bp.get("/current")
@requires_till(settles=True)
@rate_limited(*TILL_READS)
@bp.described("getCurrentPosSession", 401, 403, 404, 429)
@bp.response(200, PosSessionShape)
def current() -> dict[str, Any]:
    """The work session that signing in began. 404 (`work_session_not_found`) for a program that signed in to manage
    the shop."""
    return _session_json(sessions.current_session(till().caller))


@bp.put("/current")
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


@bp.get(f"{SESSION}/report")
@requires_till(settles=True)
@rate_limited(*TILL_READS)
@bp.described("getPosSessionReport", 401, 403, 404, 429)
@bp.response(200, SessionReportShape)
def report(session_id: str) -> dict[str, Any]:
    """The X report of a work session of yours, `current` or by its id, for admins of any: what it took and gave back so
    far. It changes nothing. Once the session is closed, its Z report as it was then."""
    return _report_json(sessions.session_for(till().caller, session_id))


@bp.post(f"{SESSION}/close")
@requires_till(settles=True)
@rate_limited("pos-session", 30)
@bp.described("closePosSession", 401, 403, 404, 409, 415, 429)
@bp.arguments(CloseBody)
@bp.response(200, SessionReportShape)
def close(body: dict[str, Any], session_id: str) -> dict[str, Any]:
    """Close a work session of yours, for admins any, with the counted cash, and get its Z report. Its user is signed
    out of that session; one that ended without being closed can still be closed by its id."""
    at = till()
    with transaction():
        session = sessions.session_for(at.caller, session_id, to_change=True)
        because = Because.LOGOUT if session.user_id == at.caller.user_id else Because.REVOKED
        sessions.close(at.author, session, body["counted_cash"], body["closing_note"], because)
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
        "unresolved_refunds": report.unresolved_refunds,
        "tenders": _tenders_json(report),
        "tips": report.tips,
        "tips_refunded": report.tips_refunded,
        "rounding": report.rounding,
        "movements": report.movements,
        "opening_float": report.opening_float,
        "expected_cash": report.expected_cash,
        "counted_cash": report.counted_cash,
        "difference": report.difference,
        "cash_difference": report.cash_difference,
        "other_locations": [_location_json(location) for location in report.other_locations],
        "z_number": session.z_number,
        "journal_head": sessions.journal_head_of(session),
    }


def _tenders_json(report: SessionReport) -> dict[str, Any]:
    by_brand = [{"brand": card.card_brand} | _tender_json(card.sums) for card in report.cards]
    return {"cash": _tender_json(report.cash), "card": {"by_brand": by_brand} | _tender_json(report.card)}


def _tender_json(sums: Sums) -> dict[str, int]:
    return {"sales": sums.gross, "refunds": sums.refunds, "count": sums.count}


def _location_json(location: LocationSums) -> dict[str, Any]:
    return {
        "location_id": location.location_id,
        "display_name": location.display_name,
        "cash": {"sales": location.cash.gross, "count": location.cash.count},
        "card": {"sales": location.card.gross, "count": location.card.count},
    }
