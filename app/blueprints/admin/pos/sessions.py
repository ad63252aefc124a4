"""A work session: its X or Z report, on screen and on paper, and closing one that nobody closed."""

from __future__ import annotations

from flask import flash, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors, read_money
from app.blueprints.admin.pos.agents import END_REASONS
from app.blueprints.callers import current_author
from app.domain.pos import reports, sessions
from app.domain.pos.movements import MovementType, movements_of_session
from app.domain.shared.problems import Conflict, Invalid, Problem
from app.domain.sites.api_sessions import Because
from app.domain.sites.sites import time_zone_of
from app.transaction import transaction
from app.web.permissions import Permission, requires

SESSION = "/pos/sessions/<session_id>"


@bp.get(SESSION)
@requires(Permission.MANAGE_POS)
def pos_session(session_id: str) -> str:
    return _page(session_id, MultiDict(), FieldErrors())


@bp.post(f"{SESSION}/close")
@requires(Permission.MANAGE_POS)
def pos_session_close(session_id: str) -> str | Response | tuple[str, int]:
    try:
        with transaction():
            session = sessions.session_of(current_user.site_id, session_id, to_change=True)
            counted = _counted_cash(request.form, session.currency)
            sessions.close(current_author(), session, counted, request.form.get("closingNote", ""), Because.REVOKED)
    except (Invalid, Conflict) as error:
        errors = FieldErrors(error)
        return _page(session_id, request.form, errors), errors.status
    flash("Closed. This is its Z report.", "good")
    return redirect(url_for("admin.pos_session", session_id=session_id))


def _counted_cash(sent: MultiDict[str, str], currency: str) -> int:
    """Return the counted cash in minor units. Raises Invalid where no amount was typed."""
    problems: list[Problem] = []
    counted = read_money(problems, sent.get("countedCash", ""), currency, "#/countedCash", required=True)
    if counted is None:
        raise Invalid(problems)
    return counted


def _page(session_id: str, sent: MultiDict[str, str], errors: FieldErrors) -> str:
    session = sessions.session_of(current_user.site_id, session_id)
    return render_template(
        "admin/pos/sessions/page.html",
        session=session,
        agent=sessions.agent_of(session),
        person=sessions.person_of(session),
        location=sessions.location_of(session),
        opened_at=sessions.opened_location_of(session),
        report=reports.report_of_session(ports.clock(), session),
        journal_head=sessions.journal_head_of(session),
        movements=[(MovementType(each.type), each) for each in movements_of_session(session)],
        time_zone=time_zone_of(session.site_id),
        end_reasons=END_REASONS,
        sent=sent,
        errors=errors,
    )
