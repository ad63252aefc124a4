"""Signing in with a passkey, in the place of password and code."""

from __future__ import annotations

import secrets

from flask import render_template, request, session
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors
from app.blueprints.admin.sign_in import admit, return_to, site_of_host
from app.blueprints.callers import refuse_beyond, relying_party, sent_credential
from app.domain.shared.problems import Invalid
from app.domain.shared.rate_limit import Rate
from app.domain.sites import sign_in_passkeys
from app.transaction import transaction
from app.web.permissions import public
from app.web.tokens import PASSKEY_ASSERTION, challenge_of, issue_challenge, read_challenge

BROWSER = "passkey_browser"  # In the browser's cookie: its challenges are for it alone.
TRIES = Rate(20, 60)  # Of one network.
Answer = str | Response | tuple[str, int]


@bp.get("/login/passkey")
@public
def passkey_sign_in() -> str:
    return _page(FieldErrors(), return_to(request.args.get("next")))


@bp.post("/login/passkey")
@public
def passkey_sign_in_check() -> Answer:
    wanted, site_id = return_to(request.form.get("next")), site_of_host()
    refuse_beyond("passkey-sign-ins", TRIES)
    bound_to, sent, now = _bound_to(session.pop(BROWSER, "")), request.form.get("challenge", ""), ports.clock().now()
    challenge = read_challenge(PASSKEY_ASSERTION, sent, bound_to, now)
    try:
        with transaction():
            user = sign_in_passkeys.user_by_passkey(ports.clock(), relying_party(), challenge, sent_credential())
    except Invalid as wrong:
        return _page(FieldErrors(wrong), wanted), 400
    return admit(user, site_id, wanted)


def _bound_to(browser: str) -> str:
    return f"admin-browser:{browser}"


def _page(errors: FieldErrors, wanted: str | None) -> str:
    browser = session.setdefault(BROWSER, secrets.token_urlsafe(16))
    token = issue_challenge(PASSKEY_ASSERTION, _bound_to(browser), ports.clock().now())
    options = sign_in_passkeys.options_to_sign_in(relying_party(), challenge_of(token))
    context = {"errors": errors, "wanted": wanted or "", "challenge": token, "options": options}
    return render_template("admin/passkey_sign_in/page.html", **context)
