"""The user's own access tokens, and an admin's view of those of another user."""

from __future__ import annotations

import json
from collections.abc import Sequence

from flask import current_app, flash, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors, sent_number
from app.blueprints.admin.sign_in import user_by_password
from app.blueprints.callers import current_author, request_host
from app.config import Config
from app.domain.shared.problems import Conflict, Invalid, Problem
from app.domain.sites import personal_tokens, staff
from app.domain.sites.personal_tokens import DEFAULT_LIFETIME, LIFETIMES, IssuedToken, token_problems
from app.transaction import transaction
from app.web.permissions import Permission, requires

TOKEN = "<int(max=2147483647):token_id>"
NO_ERRORS = FieldErrors()
NO_TOKEN = "<the token>"
Answer = str | Response | tuple[str, int]


@bp.get("/tokens")
@requires(Permission.USE_ADMIN)
def access_tokens() -> str:
    return _page(NO_ERRORS)


@bp.post("/tokens")
@requires(Permission.USE_ADMIN)
def access_token_make() -> Answer:
    """Make an access token and show it; no other page ever does, so this one does not redirect."""
    name, days = request.form.get("name", ""), sent_number(request.form.get("days", ""))
    try:
        _check_password(token_problems(name, days))
        with transaction():
            issued = personal_tokens.make_token(current_author(), current_user.user_id, name, days)
    except (Invalid, Conflict) as refused:
        errors = FieldErrors(refused)
        return _page(errors), errors.status
    return _page(NO_ERRORS, issued)


@bp.post(f"/tokens/{TOKEN}/revoke")
@requires(Permission.USE_ADMIN)
def access_token_revoke(token_id: int) -> Response:
    _revoke(current_user.user_id, token_id)
    return redirect(url_for("admin.access_tokens"))


@bp.post(f"/user/<int(max=2147483647):user_id>/tokens/{TOKEN}/revoke")
@requires(Permission.MANAGE_USERS)
def user_token_revoke(user_id: int, token_id: int) -> Response:
    staff.member(current_user, user_id)
    _revoke(user_id, token_id)
    return redirect(url_for("admin.user_edit", user_id=user_id))


def _check_password(others: Sequence[Problem]) -> None:
    """Check the user's password, so that no token can be made at a browser that was left alone. Raises Invalid, with
    the other problems."""
    try:
        user_by_password("password")
    except Invalid as wrong:
        raise Invalid([*others, *wrong.problems]) from None


def _revoke(user_id: int, token_id: int) -> None:
    with transaction():
        name = personal_tokens.revoke_token(current_author(), user_id, token_id)
    flash(f"“{name}” is revoked. Programs that use it lose access.", "good")


def _page(errors: FieldErrors, issued: IssuedToken | None = None) -> str:
    sent = {} if issued else request.form
    return render_template(
        "admin/access_tokens/page.html",
        agent=_agent_configuration(issued.text if issued else NO_TOKEN),
        tokens=personal_tokens.tokens_of(ports.clock(), current_user.site_id, current_user.user_id),
        errors=errors,
        issued=issued,
        sent=sent,
        lifetimes=[(str(days), f"{days} days") for days in LIFETIMES],
        days=sent.get("days", str(DEFAULT_LIFETIME)),
    )


def _agent_configuration(token: str) -> dict[str, str] | None:
    """Return the address of the tools for AI agents, and how an agent is set up with it: as a command and as JSON; None
    where the tools are switched off. Behind https the proxy passes the address on (docs/mcp.md)."""
    config: Config = current_app.config["SHOP"]
    if config.mcp_port is None:
        return None
    host = request.host if request.is_secure else f"{request_host()}:{config.mcp_port}"
    address = f"{request.scheme}://{host}/mcp"
    header = {"Authorization": f"Bearer {token}"}
    servers = {"mcpServers": {"shop": {"type": "http", "url": address, "headers": header}}}
    return {
        "address": address,
        "command": f'claude mcp add --transport http shop {address} --header "Authorization: Bearer {token}"',
        "json": json.dumps(servers, indent=2),
    }
