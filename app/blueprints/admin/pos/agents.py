"""The agents of the shop: their list and form, making a user one; and one agent: what they may do, where they are
signed in, what they took."""

from __future__ import annotations

from collections.abc import Callable
from zoneinfo import ZoneInfo

from flask import current_app, flash, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors, read_money, sent_number, sent_revision
from app.blueprints.admin.shell import flash_saved
from app.blueprints.callers import current_author
from app.domain.catalogue.listing import LONGEST_WORDS, page_number
from app.domain.pos import agents, locations, sessions, transactions
from app.domain.pos.models import PosAgent, PosSession
from app.domain.pos.rules import LARGEST_AMOUNT, AgentFields, agent_problems, limit_problems
from app.domain.pos.transaction_list import TransactionList
from app.domain.shared.author import Author
from app.domain.shared.money import decimal_text
from app.domain.shared.problems import Conflict, Invalid, NotFound, Problem
from app.domain.sites import staff
from app.domain.sites.accounts import Role
from app.domain.sites.models import User
from app.domain.sites.settings import settings_of
from app.domain.sites.sign_in_sessions import SignedIn
from app.domain.sites.sites import currency_of, time_zone_of
from app.transaction import transaction
from app.web.htmx import wants_fragment
from app.web.permissions import Permission, allowed, requires

PERMISSIONS = (
    ("canProcessQuickPayments", "Quick payments", "Takes an amount without an order."),
    ("canBuildOrders", "Orders", "Builds an order from products and takes its payment."),
    ("canRefund", "Refunds", "Refunds payments."),
    ("canDiscount", "Discounts", "Gives discounts on orders."),
    ("canTakeCash", "Cash", "Takes payments in cash."),
    ("canMoveCash", "Cash movements", "Pays in, pays out and drops cash."),
)
SOMEONE_NEW = "new"
END_REASONS = {
    "LOGOUT": "Signed out",
    "EXPIRED": "24 hours were over",
    "IDLE": "Not used for 12 hours",
    "REVOKED": "Signed out by the shop",
    "AGENT_DISABLED": "Agent disabled",
    "REFRESH_REUSE": "A stolen token was used",
    "PIN_LOCKOUT": "Wrong PIN five times",
    "PASSWORD_CHANGED": "Password changed",
    "DEVICE_CHANGED": "Device changed",
    "OVER_LIMIT": "Over the limit",
}
Answer = str | Response | tuple[str, int]
AGENT = "/pos/agents/<int(max=2147483647):agent_id>"
SESSION = f"{AGENT}/sessions/<session_id>"


def read_agent(problems: list[Problem], sent: MultiDict[str, str], currency: str) -> AgentFields:
    """Return the fields of the form. The limit is typed in major units; without one, that of the site holds. One that
    is no amount is added to `problems`."""
    limit = read_limit(problems, sent, "maxTransactionAmount", currency)
    return AgentFields(
        display_name=sent.get("displayName", ""),
        can_process_quick_payments="canProcessQuickPayments" in sent,
        can_build_orders="canBuildOrders" in sent,
        can_refund="canRefund" in sent,
        can_discount="canDiscount" in sent,
        can_take_cash="canTakeCash" in sent,
        can_move_cash="canMoveCash" in sent,
        max_transaction_amount=limit,
        location_ids=tuple(sent.getlist("locations")),
    )


def read_limit(
    problems: list[Problem], sent: MultiDict[str, str], name: str, currency: str, required: bool = False
) -> int | None:
    """Return the largest payment in minor units; None without one, and for one that cannot be, whose problem is
    added."""
    pointer, typed = f"#/{name}", sent.get(name, "")
    limit = read_money(problems, typed, currency, pointer, required, largest=LARGEST_AMOUNT)
    found = [] if limit is None else limit_problems(limit, currency, pointer)
    problems += found
    return None if found else limit


def form_of_request(sent: MultiDict[str, str]) -> dict[str, object]:
    """Return the form as it was sent, for showing it again."""
    return {
        "name": sent.get("displayName", ""),
        "limit": sent.get("maxTransactionAmount", ""),
        "allowed": [name for name, _, _ in PERMISSIONS if name in sent],
        "locations": sent.getlist("locations"),
    }


def form_of_fields(fields: AgentFields, limit: str) -> dict[str, object]:
    """Return the form of a stored agent; `limit` is as people type it."""
    held = {
        "canProcessQuickPayments": fields.can_process_quick_payments,
        "canBuildOrders": fields.can_build_orders,
        "canRefund": fields.can_refund,
        "canDiscount": fields.can_discount,
        "canTakeCash": fields.can_take_cash,
        "canMoveCash": fields.can_move_cash,
    }
    return {
        "name": fields.display_name,
        "limit": limit,
        "allowed": [name for name, holds in held.items() if holds],
        "locations": list(fields.location_ids),
    }


@bp.get("/pos/agents")
@requires(Permission.MANAGE_POS)
def pos_agents() -> str:
    words = " ".join(request.args.get("q", "")[:LONGEST_WORDS].replace("\0", "").split())
    found = agents.agent_rows(ports.clock(), current_user.site_id, words, page_number(request.args.get("p")))
    template = "admin/pos/agents/_results.html" if wants_fragment() else "admin/pos/agents/list.html"
    return render_template(template, found=found, words=words, permissions=PERMISSIONS, **_site_context())


@bp.get("/pos/agents/new")
@requires(Permission.MANAGE_POS)
def pos_agent_new() -> str:
    places = locations.list_locations(current_user.site_id, enabled_only=True)
    only_one = [place.location_id for place in places] if len(places) == 1 else []
    form = form_of_fields(AgentFields("", location_ids=tuple(only_one)), "")
    return _new_page(form, request.args.get("user", ""), MultiDict(), FieldErrors())


@bp.post("/pos/agents/new")
@requires(Permission.MANAGE_POS)
def pos_agent_create() -> Answer:
    sent = request.form
    try:
        with transaction():
            agent = _create(sent)
            agent_id, name = agent.id, agent.display_name
    except (Invalid, Conflict) as error:
        errors = FieldErrors(error)
        return _new_page(form_of_request(sent), sent.get("userId", ""), sent, errors), errors.status
    flash(f"{name} can take payments now.", "good")
    return redirect(url_for("admin.pos_agent", agent_id=agent_id))


def _create(sent: MultiDict[str, str]) -> PosAgent:
    """Create an agent from the form. Raises Invalid with every problem, and Conflict."""
    problems: list[Problem] = []
    fields = read_agent(problems, sent, currency_of(current_user.site_id))
    user = None if _is_for_someone_new(sent) else _chosen_user(problems, sent)
    if user is not None:
        fields = agents.with_user_name(user, fields)
    if user is not None or _is_for_someone_new(sent):
        problems += agent_problems(fields)
    if _is_for_someone_new(sent):
        said = {problem.pointer for problem in problems}
        problems += [one for one in staff.invitation_problems(*_invitation(sent)) if one.pointer not in said]
    if problems:
        raise Invalid(problems)
    return agents.enable_user(current_author(), user or _new_user(sent), fields)


def _is_for_someone_new(sent: MultiDict[str, str]) -> bool:
    return sent.get("userId") == SOMEONE_NEW and _may_add_users()


def _chosen_user(problems: list[Problem], sent: MultiDict[str, str]) -> User | None:
    user = agents.find_member(current_user.site_id, sent_number(sent.get("userId", "")) or 0)
    if user is None:
        problems.append(Problem("unknown_user", "Choose one of the shop’s users.", "#/userId"))
    return user


def _new_user(sent: MultiDict[str, str]) -> User:
    """Create the user whom the form invites. Raises Invalid."""
    user, _ = staff.invite(ports.clock(), current_app.config["SHOP"].password_memory_kib, *_invitation(sent))
    return user


def _invitation(sent: MultiDict[str, str]) -> tuple[SignedIn, str, str, str, list[str]]:
    address, name, password = (sent.get(field, "") for field in ("email", "displayName", "password"))
    return current_user, address, name, password, [Role.POS_AGENT.value]


def _may_add_users() -> bool:
    return allowed(current_user.roles, Permission.MANAGE_USERS)


def _new_page(form: dict[str, object], chosen: str, sent: MultiDict[str, str], errors: FieldErrors) -> str:
    return render_template(
        "admin/pos/agents/new.html",
        form=form,
        chosen=chosen,
        sent=sent,
        errors=errors,
        users=agents.list_candidates(current_user.site_id),
        may_add_users=_may_add_users(),
        places=locations.list_locations(current_user.site_id),
        permissions=PERMISSIONS,
        **_site_context(),
    )


def _site_context() -> dict[str, object]:
    site_id = current_user.site_id
    return {"currency": currency_of(site_id), "site_limit": settings_of(site_id)["posMaxTransactionAmount"]}


@bp.get(AGENT)
@requires(Permission.MANAGE_POS)
def pos_agent(agent_id: int) -> str:
    agent = agents.agent_of(current_user.site_id, agent_id)
    if wants_fragment():
        return render_template("admin/pos/agents/_payments.html", agent=agent, **_payments_context(agent))
    return _agent_page(agent, _stored_form(agent), FieldErrors())


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
        return _agent_page(agent, form_of_request(request.form), errors), errors.status
    address = url_for("admin.pos_agent", agent_id=agent_id)
    flash_saved(changed, f"Saved {fields.display_name}.", "pos_agent", agent_id, address)
    return redirect(address)


@bp.post(f"{AGENT}/disable")
@requires(Permission.MANAGE_POS)
def pos_agent_disable(agent_id: int) -> Response:
    return _change_agent(agent_id, agents.disable, "Disabled. They are signed out of every till.")


@bp.post(f"{AGENT}/enable")
@requires(Permission.MANAGE_POS)
def pos_agent_enable(agent_id: int) -> Response:
    return _change_agent(agent_id, agents.enable, "Enabled. They can sign in at a till.")


@bp.post(f"{SESSION}/revoke")
@requires(Permission.MANAGE_POS)
def pos_agent_session_revoke(agent_id: int, session_id: str) -> Response:
    _, session = _agent_session(agent_id, session_id)
    with transaction():
        sessions.revoke(current_author(), session.id)
    flash("Signed out at that till.", "good")
    return _redirect_to_agent(agent_id)


def _change_agent(agent_id: int, change: Callable[[Author, int, int], None], news: str) -> Response:
    try:
        with transaction():
            change(current_author(), agent_id, sent_revision(request.form))
    except Conflict as stale:
        flash(stale.message, "warn")
    else:
        flash(news, "good")
    return _redirect_to_agent(agent_id)


def _redirect_to_agent(agent_id: int) -> Response:
    return redirect(url_for("admin.pos_agent", agent_id=agent_id))


def _agent_session(agent_id: int, session_id: str) -> tuple[PosAgent, PosSession]:
    """Return an agent and a session of theirs. Raises NotFound, also for a session of another agent."""
    agent = agents.agent_of(current_user.site_id, agent_id)
    session = sessions.session_of(agent.site_id, session_id)
    if session.user_id != agent.user_id:
        raise NotFound(sessions.MISSING)
    return agent, session


def _stored_form(agent: PosAgent) -> dict[str, object]:
    limit, currency = agent.max_transaction_amount, currency_of(agent.site_id)
    return form_of_fields(agents.fields_of(agent), "" if limit is None else decimal_text(limit, currency))


def _agent_page(agent: PosAgent, form: dict[str, object], errors: FieldErrors) -> str:
    site_id, clock = agent.site_id, ports.clock()
    return render_template(
        "admin/pos/agents/agent.html",
        agent=agent,
        row=agents.agent_row(clock, site_id, agent),
        form=form,
        errors=errors,
        places=locations.list_locations(site_id),
        permissions=PERMISSIONS,
        site_limit=settings_of(site_id)["posMaxTransactionAmount"],
        open_sessions=sessions.open_sessions(site_id, agent.user_id),
        past=sessions.past_sessions(site_id, agent.user_id, page_number(request.args.get("s"))),
        end_reasons=END_REASONS,
        **_payments_context(agent),
    )


def _payments_context(agent: PosAgent) -> dict[str, object]:
    time_zone = time_zone_of(agent.site_id)
    filters = TransactionList(agent_id=agent.id, page=page_number(request.args.get("p")))
    found, totals = transactions.transaction_page(agent.site_id, ZoneInfo(time_zone), filters)
    return {"found": found, "totals": totals, "time_zone": time_zone, "currency": currency_of(agent.site_id)}
