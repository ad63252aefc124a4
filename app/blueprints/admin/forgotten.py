"""A forgotten password: the request of a link by email, and the new password that its holder sets."""

from __future__ import annotations

from flask import flash, make_response, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors
from app.blueprints.admin.sign_in import site_of_host
from app.blueprints.callers import password_memory, recipient_key, refuse_beyond
from app.domain.shared.problems import Invalid, NotFound
from app.domain.shared.rate_limit import Rate
from app.domain.sites import account_mails, accounts
from app.domain.sites.account_mails import AccountMailKind
from app.transaction import transaction
from app.web.account_links import read_account_link
from app.web.permissions import public

Answer = Response | tuple[str, int]
REQUESTS = Rate(20, 3_600)  # Of one network.


@bp.get("/forgotten")
@public
def forgotten() -> str:
    return _request_page(FieldErrors())


@bp.post("/forgotten")
@public
def forgotten_request() -> Answer:
    """Request a link. The answer is the same whether there is a user with this address or not."""
    email = request.form.get("email", "").strip()
    if not accounts.EMAIL.fullmatch(email):
        wrong = Invalid.one("invalid_email", "Enter the email address that you sign in with.", "#/email")
        return _request_page(FieldErrors(wrong)), 400
    refuse_beyond("forgotten-passwords", REQUESTS)
    site_id = site_of_host()
    with transaction():
        account_mails.request_reset(ports.clock(), recipient_key(), site_id, email)
    return redirect(url_for("admin.forgotten", sent="1"))


@bp.get("/new-password/<token>")
@public
def new_password(token: str) -> Response:
    try:
        user = account_mails.user_of_link(read_account_link(AccountMailKind.RESET, token, ports.clock().now()))
    except NotFound as over:
        return link_is_over_page(over)
    return private_page("admin/forgotten/new_password.html", errors=FieldErrors(), token=token, email=user.email)


@bp.post("/new-password/<token>")
@public
def new_password_save(token: str) -> Response:
    clock, site_id = ports.clock(), site_of_host()
    link = read_account_link(AccountMailKind.RESET, token, clock.now())
    try:
        email = account_mails.user_of_link(link).email
        with transaction():
            account_mails.reset_password(clock, password_memory(), site_id, link, request.form.get("password", ""))
    except NotFound as over:
        return link_is_over_page(over)
    except Invalid as wrong:
        errors = FieldErrors(wrong)
        return private_page("admin/forgotten/new_password.html", 400, errors=errors, token=token, email=email)
    flash("Password set. Sign in with it.", "good")
    return redirect(url_for("admin.sign_in"))


def link_is_over_page(over: NotFound) -> Response:
    return private_page("admin/forgotten/link_over.html", 404, reason=over.message)


def private_page(template: str, status: int = 200, **context: object) -> Response:
    """Answer with a page whose address is a secret: neither kept nor named to other sites."""
    answer = make_response(render_template(template, **context), status)
    answer.headers["Cache-Control"] = "no-store"
    answer.headers["Referrer-Policy"] = "no-referrer"
    return answer


def _request_page(errors: FieldErrors) -> str:
    email, is_sent = request.form.get("email", ""), "sent" in request.args
    return render_template("admin/forgotten/page.html", errors=errors, email=email, is_sent=is_sent)
