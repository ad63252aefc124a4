"""The user's own two-step sign-in: turning it on with an authenticator app, recovery codes, turning it off; and turning
off that of another user who lost the phone."""

from __future__ import annotations

from flask import flash, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors
from app.blueprints.admin.sign_in import user_by_password
from app.blueprints.admin.users import USER
from app.blueprints.callers import current_author
from app.blueprints.receipt_links import qr_code
from app.domain.shared.problems import Conflict, Invalid
from app.domain.sites import second_factors, staff
from app.domain.sites.one_time_codes import app_key, grouped_key, key_address, new_seed
from app.transaction import transaction
from app.web.permissions import Permission, requires
from app.web.tokens import issue_second_factor_setup, second_factor_key, seed_of_setup

NO_ERRORS = FieldErrors()
Answer = str | Response | tuple[str, int]


@bp.get("/two-step")
@requires(Permission.USE_ADMIN)
def second_factor() -> str:
    return _page(NO_ERRORS)


@bp.post("/two-step")
@requires(Permission.USE_ADMIN)
def second_factor_on() -> Answer:
    """Turn the second factor on and show the recovery codes; no other page ever does, so this one does not redirect."""
    user_id, now = current_user.user_id, ports.clock().now()
    seed = seed_of_setup(request.form.get("setup", ""), user_id, now)
    try:
        if seed is None:
            raise Conflict("This page was open for too long. Add the new code below to your app.")
        user_by_password("password")
        with transaction():
            code, key, session = request.form.get("code", ""), second_factor_key(), current_user.token
            codes = second_factors.turn_on(current_author(), key, user_id, seed, code, session)
    except (Invalid, Conflict) as refused:
        errors = FieldErrors(refused)
        return _page(errors, seed), errors.status
    return _codes_page(codes, "Two-step sign-in is on")


@bp.post("/two-step/codes")
@requires(Permission.USE_ADMIN)
def second_factor_codes() -> Answer:
    try:
        user_by_password("password")
        with transaction():
            codes = second_factors.renew_codes(current_author(), current_user.user_id)
    except (Invalid, Conflict) as refused:
        errors = FieldErrors(refused)
        return _page(errors), errors.status
    return _codes_page(codes, "New recovery codes")


@bp.post("/two-step/off")
@requires(Permission.USE_ADMIN)
def second_factor_off() -> Answer:
    try:
        user = user_by_password("password")
        with transaction():
            second_factors.turn_off(current_author(), user, by_themselves=True)
    except (Invalid, Conflict) as refused:
        errors = FieldErrors(refused)
        return _page(errors), errors.status
    flash("Two-step sign-in is off. Your password alone signs you in.", "good")
    return redirect(url_for("admin.second_factor"))


@bp.post(f"{USER}/two-step/off")
@requires(Permission.MANAGE_USERS)
def user_second_factor_off(user_id: int) -> Response:
    with transaction():
        name = staff.turn_off_second_factor(ports.clock(), current_user, user_id).display_name
    flash(f"Two-step sign-in of {name} is off. Their password alone signs them in.", "good")
    return redirect(url_for("admin.user_edit", user_id=user_id))


def _page(errors: FieldErrors, seed: str | None = None) -> str:
    """Show the page; `seed` is that of a setup that goes on."""
    status = second_factors.status_of(current_user.user_id)
    setup = None if status else _setup(seed or new_seed())
    return render_template("admin/second_factor/page.html", status=status, setup=setup, errors=errors)


def _setup(seed: str) -> dict[str, object]:
    """Return what an app is set up with."""
    key = app_key(second_factor_key(), current_user.user_id, seed)
    return {
        "token": issue_second_factor_setup(current_user.user_id, seed, ports.clock().now()),
        "key": grouped_key(key),
        "qr": qr_code(key_address(key, current_user.email, current_user.site_name)),
    }


def _codes_page(codes: list[str], heading: str) -> str:
    return render_template("admin/second_factor/codes.html", codes=codes, heading=heading)
