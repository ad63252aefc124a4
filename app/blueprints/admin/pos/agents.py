"""The agents of the shop, and making a user one."""

from __future__ import annotations

from flask import current_app, flash, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.field_errors import FieldErrors
from app.blueprints.admin.form_numbers import sent_number
from app.blueprints.admin.pos.agent_form import PERMISSIONS, read_agent, shown_agent, typed_agent
from app.blueprints.author import current_author
from app.domain.catalogue.listing import LONGEST_WORDS, page_number
from app.domain.pos import agents, locations
from app.domain.pos import agents as agent_queries
from app.domain.pos.models import PosAgent
from app.domain.pos.rules import AgentFields, agent_problems
from app.domain.shared.problems import Conflict, Invalid, Problem
from app.domain.sites import staff
from app.domain.sites.models import User
from app.domain.sites.roles import Role
from app.domain.sites.settings import settings_of
from app.domain.sites.sign_in_sessions import SignedIn
from app.domain.sites.sites import currency_of
from app.htmx import wants_fragment
from app.permissions import Permission, allowed, requires
from app.transaction import transaction

SOMEONE_NEW = "new"
Answer = str | Response | tuple[str, int]


@bp.get("/pos/agents")
@requires(Permission.MANAGE_POS)
def pos_agents() -> str:
    words = " ".join(request.args.get("q", "")[:LONGEST_WORDS].replace("\0", "").split())
    found = agent_queries.agent_rows(ports.clock(), current_user.site_id, words, page_number(request.args.get("p")))
    template = "admin/pos/agents/_results.html" if wants_fragment() else "admin/pos/agents/list.html"
    return render_template(template, found=found, words=words, permissions=PERMISSIONS, **_site())


@bp.get("/pos/agents/new")
@requires(Permission.MANAGE_POS)
def pos_agent_new() -> str:
    places = locations.list_locations(current_user.site_id, enabled_only=True)
    only_one = [place.location_id for place in places] if len(places) == 1 else []
    form = shown_agent(AgentFields("", location_ids=tuple(only_one)), "")
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
        return _new_page(typed_agent(sent), sent.get("userId", ""), sent, errors), errors.status
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
        **_site(),
    )


def _site() -> dict[str, object]:
    site_id = current_user.site_id
    return {"currency": currency_of(site_id), "site_limit": settings_of(site_id)["posMaxTransactionAmount"]}
