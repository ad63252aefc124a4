"""The people who work for the shop."""

from __future__ import annotations

from flask import current_app, flash, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors
from app.blueprints.admin.shell import ROLE_NAMES
from app.blueprints.callers import current_author
from app.domain.shared.problems import Invalid
from app.domain.sites import devices, personal_tokens, staff
from app.domain.sites.staff import grantable
from app.transaction import transaction
from app.web.permissions import Permission, requires

USER = "/user/<int(max=2147483647):user_id>"
NO_ERRORS = FieldErrors()
Answer = str | Response | tuple[str, int]


@bp.get("/users")
@requires(Permission.MANAGE_USERS)
def users_list() -> str:
    return render_template("admin/users/list.html", members=staff.members(current_user), role_names=ROLE_NAMES)


@bp.get("/user/new")
@requires(Permission.MANAGE_USERS)
def user_new() -> str:
    return _new_page(NO_ERRORS)


@bp.post("/user/new")
@requires(Permission.MANAGE_USERS)
def user_create() -> Answer:
    sent = request.form
    try:
        with transaction():
            user, known = staff.invite(
                ports.clock(),
                current_app.config["SHOP"].password_memory_kib,
                current_user,
                sent.get("email", ""),
                sent.get("displayName", ""),
                sent.get("password", ""),
                sent.getlist("role"),
            )
            name = user.display_name
    except Invalid as invalid:
        return _new_page(FieldErrors(invalid)), 400
    kept = " They keep their name and password." if known else ""
    flash(f"{name} can work on this shop now.{kept}", "good")
    return redirect(url_for("admin.users_list"))


@bp.get(USER)
@requires(Permission.MANAGE_USERS)
def user_edit(user_id: int) -> str:
    return _edit_page(user_id, NO_ERRORS)


@bp.post(USER)
@requires(Permission.MANAGE_USERS)
def user_save(user_id: int) -> Answer:
    sent = request.form
    try:
        with transaction():
            user, changed = staff.change(
                ports.clock(),
                current_user,
                user_id,
                sent.get("displayName", ""),
                sent.getlist("role"),
                "enabled" in sent,
            )
            name = user.display_name
    except Invalid as invalid:
        return _edit_page(user_id, FieldErrors(invalid), is_typed=True), 400
    flash(f"Saved {name}." if changed else "No changes to save.", "good")
    return redirect(url_for("admin.users_list"))


@bp.post(f"{USER}/password")
@requires(Permission.MANAGE_USERS)
def user_password(user_id: int) -> Answer:
    memory_kib = current_app.config["SHOP"].password_memory_kib
    try:
        with transaction():
            user = staff.reset_password(
                ports.clock(), memory_kib, current_user, user_id, request.form.get("password", "")
            )
            name = user.display_name
    except Invalid as invalid:
        return _edit_page(user_id, FieldErrors(invalid)), 400
    flash(f"{name} has a new password and is signed out everywhere.", "good")
    return redirect(url_for("admin.user_edit", user_id=user_id))


@bp.post(f"{USER}/devices/<device_id>/remove")
@requires(Permission.MANAGE_USERS)
def user_device_remove(user_id: int, device_id: str) -> Response:
    staff.member(current_user, user_id)
    with transaction():
        name = devices.remove_device(current_author(), user_id, device_id)
    flash(f"{f'“{name}”' if name else 'The device'} is removed and signed out.", "good")
    return redirect(url_for("admin.user_edit", user_id=user_id))


def _new_page(errors: FieldErrors) -> str:
    return render_template("admin/users/new.html", errors=errors, sent=request.form, **role_choices())


def _edit_page(user_id: int, errors: FieldErrors, is_typed: bool = False) -> str:
    """Show a user as stored, or where it `is_typed` with the form as it was sent."""
    member, sent = staff.member(current_user, user_id), request.form
    stored = {"name": member.display_name, "roles": member.roles, "is_enabled": member.enabled}
    typed = {"name": sent.get("displayName", ""), "roles": sent.getlist("role"), "is_enabled": "enabled" in sent}
    return render_template(
        "admin/users/edit.html",
        member=member,
        form=typed if is_typed else stored,
        devices=devices.devices_of(current_user.site_id, user_id),
        tokens=personal_tokens.tokens_of(ports.clock(), current_user.site_id, user_id),
        errors=errors,
        **role_choices(),
    )


def role_choices() -> dict[str, object]:
    """Return what the form of roles needs."""
    return {"grantable": grantable(current_user.roles), "role_names": ROLE_NAMES, "role_meanings": ROLE_MEANINGS}


ROLE_MEANINGS = {
    "MERCHANDISER": "Products, collections, pages and search.",
    "ADMIN": "All of that, plus users and settings.",
    "POS_AGENT": "Takes payments in the till app. No access to this admin.",
    "SUPERADMIN": "Full access to every shop on this server.",
}
