"""Invitations of users by email: sending, sending again, revoking, and what the invited user does with the link."""

from __future__ import annotations

from flask import flash, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forgotten import link_is_over_page, private_page
from app.blueprints.admin.forms import FieldErrors
from app.blueprints.admin.sign_in import site_of_host
from app.blueprints.admin.users import USER, role_choices
from app.blueprints.callers import password_memory
from app.domain.shared.problems import Invalid, NotFound
from app.domain.sites import account_mails, invitations
from app.domain.sites.account_mails import AccountMailKind
from app.transaction import transaction
from app.web.account_links import read_account_link
from app.web.permissions import Permission, public, requires

Answer = str | Response | tuple[str, int]


@bp.get("/user/invite")
@requires(Permission.MANAGE_USERS)
def user_invite() -> str:
    return _invite_page(FieldErrors())


@bp.post("/user/invite")
@requires(Permission.MANAGE_USERS)
def user_invite_send() -> Answer:
    email, roles = request.form.get("email", ""), request.form.getlist("role")
    try:
        with transaction():
            user, is_known = invitations.invite_by_email(ports.clock(), current_user, email, roles)
            name, address = user.display_name, user.email
    except Invalid as invalid:
        return _invite_page(FieldErrors(invalid)), 400
    if is_known:
        flash(f"{name} can work on this shop now. They keep their name and password.", "good")
    else:
        flash(f"{address} is invited.", "good")
    return redirect(url_for("admin.users_list"))


@bp.post(f"{USER}/invitation")
@requires(Permission.MANAGE_USERS)
def user_invite_again(user_id: int) -> Response:
    with transaction():
        address = invitations.resend(ports.clock(), current_user, user_id).email
    flash(f"A new invitation is on its way to {address}. The link in the earlier one no longer works.", "good")
    return redirect(url_for("admin.user_edit", user_id=user_id))


@bp.post(f"{USER}/invitation/revoke")
@requires(Permission.MANAGE_USERS)
def user_invite_revoke(user_id: int) -> Response:
    with transaction():
        address = invitations.revoke(ports.clock(), current_user, user_id)
    flash(f"The invitation of {address} is revoked.", "good")
    return redirect(url_for("admin.users_list"))


@bp.get("/invitation/<token>")
@public
def invitation(token: str) -> Response:
    link = read_account_link(AccountMailKind.INVITATION, token, ports.clock().now())
    try:
        email = account_mails.user_of_link(link).email
    except NotFound as over:
        return link_is_over_page(over)
    return _accept_page(token, email, FieldErrors())


@bp.post("/invitation/<token>")
@public
def invitation_accept(token: str) -> Response:
    clock, site_id, sent = ports.clock(), site_of_host(), request.form
    link = read_account_link(AccountMailKind.INVITATION, token, clock.now())
    name, password = sent.get("displayName", ""), sent.get("password", "")
    try:
        email = account_mails.user_of_link(link).email
        with transaction():
            invitations.accept(clock, password_memory(), site_id, link, name, password)
    except NotFound as over:
        return link_is_over_page(over)
    except Invalid as wrong:
        return _accept_page(token, email, FieldErrors(wrong), 400)
    flash("Welcome. Sign in with your new password.", "good")
    return redirect(url_for("admin.sign_in"))


def _invite_page(errors: FieldErrors) -> str:
    reaches_people = ports.mailer().reaches_people
    context = {"errors": errors, "sent": request.form, "reaches_people": reaches_people}
    return render_template("admin/invitations/invite.html", **context, **role_choices())


def _accept_page(token: str, email: str, errors: FieldErrors, status: int = 200) -> Response:
    name = request.form.get("displayName", "")
    context = {"errors": errors, "token": token, "email": email, "name": name}
    return private_page("admin/invitations/accept.html", status, **context)
