"""The caller's work session at a till: its opening float, X report and closing."""

from __future__ import annotations

from typing import Any

from app import ports
from app.blueprints.rate_limit import TILL_READS, rate_limited
from app.blueprints.v1.agent_shapes import (
    CloseBody,
    OpeningFloatBody,
    PosSessionShape,
    SessionReportShape,
    report_json,
    session_json,
)
from app.blueprints.v1.api import ApiBlueprint
from app.blueprints.v1.pos_access import requires_till, till
from app.domain.pos import reports, sessions
from app.domain.pos.models import PosSession
from app.transaction import transaction

bp = ApiBlueprint("v1_pos_sessions", __name__, url_prefix="/v1/pos/sessions/current", tag="POS")


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


def _report_json(session: PosSession) -> dict[str, Any]:
    return report_json(reports.report_of_session(ports.clock(), session), _session_json(session))


def _session_json(session: PosSession) -> dict[str, Any]:
    location = sessions.location_of(session)
    return session_json(session, None if location is None else location.location_id)
