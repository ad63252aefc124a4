"""One agent: what they may do, where they are signed in, what they took."""

from __future__ import annotations

from collections.abc import Callable
from zoneinfo import ZoneInfo

from flask import flash, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.field_errors import FieldErrors
from app.blueprints.admin.form_numbers import sent_revision
from app.blueprints.admin.pos.agent_form import PERMISSIONS, read_agent, shown_agent, typed_agent
from app.blueprints.author import current_author
from app.domain.catalogue.listing import page_number
from app.domain.pos import agents, locations, reports, sessions, transactions
from app.domain.pos import agents as agent_queries
from app.domain.pos.models import PosAgent, PosSession
from app.domain.pos.rules import agent_problems
from app.domain.pos.transaction_list import TransactionList
from app.domain.shared.author import Author
from app.domain.shared.money import decimal_text
from app.domain.shared.problems import Conflict, Invalid, NotFound, Problem
from app.domain.sites.settings import settings_of
from app.domain.sites.sites import currency_of, time_zone_of
from app.htmx import wants_fragment
from app.permissions import Permission, requires
from app.transaction import transaction

AGENT = "/pos/agents/<int(max=2147483647):agent_id>"
SESSION = f"{AGENT}/sessions/<session_id>"
Answer = str | Response | tuple[str, int]


@bp.get(AGENT)
@requires(Permission.MANAGE_POS)
def pos_agent(agent_id: int) -> str:
    agent = agents.agent_of(current_user.site_id, agent_id)
    if wants_fragment():
        return render_template("admin/pos/agent/_payments.html", agent=agent, **_payments(agent))
    return _page(agent, _stored_form(agent), FieldErrors())


@bp.post(AGENT)
@requires(Permission.MANAGE_POS)
def pos_agent_save(agent_id: int) -> Answer:
    problems: list[Problem] = []
    fields = read_agent(problems, request.form, currency_of(current_user.site_id))
    try:
        if problems:
            raise Invalid([*problems, *agent_problems(fields)])
        with transaction():
            changed = agents.save(current_author(), agent_id, sent_revision(request.form), fields)
    except (Invalid, Conflict) as error:
        errors = FieldErrors(error)
        agent = agents.agent_of(current_user.site_id, agent_id)
        return _page(agent, typed_agent(request.form), errors), errors.status
    flash(f"Saved {fields.display_name}." if changed else "No changes to save.", "good")
    return _back(agent_id)


@bp.post(f"{AGENT}/disable")
@requires(Permission.MANAGE_POS)
def pos_agent_disable(agent_id: int) -> Response:
    return _switch(agent_id, agents.disable, "Disabled. They are signed out of every till.")


@bp.post(f"{AGENT}/enable")
@requires(Permission.MANAGE_POS)
def pos_agent_enable(agent_id: int) -> Response:
    return _switch(agent_id, agents.enable, "Enabled. They can sign in at a till.")


@bp.get(SESSION)
@requires(Permission.MANAGE_POS)
def pos_agent_session(agent_id: int, session_id: str) -> str:
    agent, session = _session(agent_id, session_id)
    return render_template(
        "admin/pos/agent/session.html",
        agent=agent,
        session=session,
        location=sessions.location_of(session),
        report=reports.report_of_session(ports.clock(), session),
        time_zone=time_zone_of(agent.site_id),
        end_reasons=END_REASONS,
    )


@bp.post(f"{SESSION}/revoke")
@requires(Permission.MANAGE_POS)
def pos_agent_session_revoke(agent_id: int, session_id: str) -> Response:
    _, session = _session(agent_id, session_id)
    with transaction():
        sessions.revoke(current_author(), session.id)
    flash("Signed out at that till.", "good")
    return _back(agent_id)


def _switch(agent_id: int, change: Callable[[Author, int, int], None], news: str) -> Response:
    try:
        with transaction():
            change(current_author(), agent_id, sent_revision(request.form))
    except Conflict as stale:
        flash(stale.message, "warn")
    else:
        flash(news, "good")
    return _back(agent_id)


def _back(agent_id: int) -> Response:
    return redirect(url_for("admin.pos_agent", agent_id=agent_id))


def _session(agent_id: int, session_id: str) -> tuple[PosAgent, PosSession]:
    """Return an agent and a session of theirs. Raises NotFound, also for a session of another agent."""
    agent = agents.agent_of(current_user.site_id, agent_id)
    session = sessions.session_of(agent.site_id, session_id)
    if session.user_id != agent.user_id:
        raise NotFound(sessions.MISSING)
    return agent, session


def _stored_form(agent: PosAgent) -> dict[str, object]:
    limit, currency = agent.max_transaction_amount, currency_of(agent.site_id)
    return shown_agent(agents.fields_of(agent), "" if limit is None else decimal_text(limit, currency))


def _page(agent: PosAgent, form: dict[str, object], errors: FieldErrors) -> str:
    site_id, clock = agent.site_id, ports.clock()
    return render_template(
        "admin/pos/agent/page.html",
        agent=agent,
        row=agent_queries.agent_row(clock, site_id, agent),
        form=form,
        errors=errors,
        places=locations.list_locations(site_id),
        permissions=PERMISSIONS,
        site_limit=settings_of(site_id)["posMaxTransactionAmount"],
        open_sessions=sessions.open_sessions(site_id, agent.user_id),
        past=sessions.past_sessions(site_id, agent.user_id, page_number(request.args.get("s"))),
        end_reasons=END_REASONS,
        **_payments(agent),
    )


def _payments(agent: PosAgent) -> dict[str, object]:
    time_zone = time_zone_of(agent.site_id)
    filters = TransactionList(agent_id=agent.id, page=page_number(request.args.get("p")))
    found, totals = transactions.transaction_page(agent.site_id, ZoneInfo(time_zone), filters)
    return {"found": found, "totals": totals, "time_zone": time_zone, "currency": currency_of(agent.site_id)}


END_REASONS = {
    "LOGOUT": "Signed out",
    "EXPIRED": "24 hours were over",
    "IDLE": "Not used for 12 hours",
    "REVOKED": "Signed out by the shop",
    "AGENT_DISABLED": "Agent disabled",
    "REFRESH_REUSE": "A stolen token was used",
    "PIN_LOCKOUT": "Wrong PIN five times",
    "PASSWORD_CHANGED": "Password changed",
}
