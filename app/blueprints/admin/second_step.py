"""The second step of a sign-in, on a page of its own after the password: a code of the user's app, or one of the
recovery codes. No session is open before it."""

from __future__ import annotations

from flask import flash, render_template, request, session
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors
from app.blueprints.admin.sign_in import SECOND_STEP, admit, return_to, sign_in_page, site_of_host
from app.domain.shared.problems import Invalid, NotFound
from app.domain.sites import second_factors
from app.domain.sites.models import User
from app.transaction import transaction
from app.web.permissions import public
from app.web.tokens import read_second_step, second_factor_key

Answer = str | Response | tuple[str, int]


@bp.get("/login/code")
@public
def second_step() -> Answer:
    wanted, is_recovery = return_to(request.args.get("next")), "recovery" in request.args
    user = _user_at_second_step()
    return _page(FieldErrors(), wanted, is_recovery) if user else _over_page(wanted)


@bp.post("/login/code")
@public
def second_step_check() -> Answer:
    wanted, is_recovery = return_to(request.form.get("next")), "recovery" in request.form
    site_id, user = site_of_host(), _user_at_second_step()
    if user is None:
        return _over_page(wanted)
    typed = request.form.get("code", "")
    with transaction():
        step = second_factors.check_code(ports.clock(), second_factor_key(), site_id, user, typed)
    if not step.is_right:
        is_recovery = is_recovery or any(character.isalpha() for character in typed)  # Codes of apps are digits.
        message = second_factors.WRONG_RECOVERY if is_recovery else second_factors.WRONG
        return _page(FieldErrors(Invalid.one("wrong_code", message, "#/code")), wanted, is_recovery), 400
    response = admit(user, site_id, wanted)
    if step.codes_left is not None:
        flash(_codes_left_message(step.codes_left), "good")
    return response


def _user_at_second_step() -> User | None:
    """Return the user who gave the right password in this browser; None where that is over."""
    known = read_second_step(session.get(SECOND_STEP, ""), ports.clock().now())
    try:
        return second_factors.user_at_second_step(*known) if known else None
    except NotFound:
        return None


def _codes_left_message(number: int) -> str:
    if number == 0:
        return "That was your last recovery code. Make new ones under Two-step sign-in."
    return f"Recovery code used. {number} {'is' if number == 1 else 'are'} left."


def _page(errors: FieldErrors, wanted: str | None, is_recovery: bool) -> str:
    context = {"errors": errors, "wanted": wanted or "", "is_recovery": is_recovery}
    return render_template("admin/second_step/page.html", **context)


def _over_page(wanted: str | None) -> Answer:
    over = Invalid.one("sign_in_over", "Your sign-in took too long or was changed. Enter your password again.")
    return sign_in_page(FieldErrors(over), wanted), 400
