"""The user's own passkeys, by which they sign in without password and code: listed, added, removed."""

from __future__ import annotations

from flask import flash, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors
from app.blueprints.admin.sign_in import user_by_password
from app.blueprints.callers import current_author, relying_party, sent_credential
from app.domain.shared.problems import Conflict, Invalid
from app.domain.sites import accounts, sign_in_passkeys
from app.domain.sites.models import User
from app.transaction import transaction
from app.web.permissions import Permission, requires
from app.web.tokens import PASSKEY_REGISTRATION, challenge_of, issue_challenge, read_challenge

NO_ERRORS = FieldErrors()
Answer = str | Response | tuple[str, int]


@bp.get("/passkeys")
@requires(Permission.USE_ADMIN)
def passkeys() -> str:
    return _page(NO_ERRORS)


@bp.post("/passkeys")
@requires(Permission.USE_ADMIN)
def passkey_begin() -> Answer:
    """Check the password, and show the page that has the browser make a passkey."""
    name = request.form.get("name", "")
    try:
        if problems := sign_in_passkeys.name_problems(name):
            raise Invalid(problems)
        user = user_by_password("password")
    except Invalid as wrong:
        return _page(FieldErrors(wrong)), 400
    return _make_page(user, name)


@bp.post("/passkeys/register")
@requires(Permission.USE_ADMIN)
def passkey_register() -> Answer:
    """Store the passkey that the browser made. Its challenge was issued after the password alone."""
    user, name = accounts.get_user(current_user.email), request.form.get("name", "")
    sent, now = request.form.get("challenge", ""), ports.clock().now()
    challenge = read_challenge(PASSKEY_REGISTRATION, sent, _bound_to(), now)
    try:
        with transaction():
            sign_in_passkeys.add(current_author(), user, relying_party(), challenge, sent_credential(), name)
    except (Invalid, Conflict) as refused:
        errors = FieldErrors(refused)
        return _page(errors), errors.status
    flash("Passkey added. Next time sign in with it.", "good")
    return redirect(url_for("admin.passkeys"))


@bp.post("/passkeys/<passkey_id>/remove")
@requires(Permission.USE_ADMIN)
def passkey_remove(passkey_id: str) -> Response:
    with transaction():
        name = sign_in_passkeys.remove(current_author(), current_user.user_id, passkey_id)
    flash(f"“{name}” is removed and signs nobody in any more.", "good")
    return redirect(url_for("admin.passkeys"))


def _bound_to() -> str:
    return f"admin:{current_user.user_id}"


def _page(errors: FieldErrors) -> str:
    context = {"errors": errors, "name": request.form.get("name", "")}
    found = sign_in_passkeys.passkeys_of(current_user.user_id)
    return render_template("admin/passkeys/page.html", passkeys=found, host=relying_party().id, **context)


def _make_page(user: User, name: str) -> str:
    token = issue_challenge(PASSKEY_REGISTRATION, _bound_to(), ports.clock().now())
    options = sign_in_passkeys.options_to_make(user, relying_party(), current_user.site_name, challenge_of(token))
    return render_template("admin/passkeys/make.html", name=name, challenge=token, options=options)
