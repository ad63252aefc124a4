"""Signing in by a password and out, the user's own password, and the choice of the shop to work on. Where the user has
a second factor, second_step.py goes on."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from flask import current_app, flash, redirect, render_template, request, session, url_for
from flask_login import current_user, login_user
from sqlalchemy.exc import OperationalError
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors, sent_number
from app.blueprints.callers import current_author, password_memory, request_host, user_by_credentials
from app.domain.shared.problems import Invalid, NotFound
from app.domain.sites import accounts, activity, second_factors, sign_in_sessions
from app.domain.sites.models import User
from app.domain.sites.sign_in_sessions import DEVICE_KNOWN_FOR, SignedIn
from app.domain.sites.sites import site_by_host
from app.extensions import login_manager
from app.transaction import transaction
from app.web.permissions import Permission, allowed, public, requires
from app.web.tokens import device_of_token, device_token_with_user, issue_second_step

LONGEST_RETURN_ADDRESS = 2_000
SECOND_STEP = "second_step"  # In the browser's cookie, between password and code.
PLAIN_ADDRESS = re.compile(r"/admin(?:[/?][\x21-\x5b\x5d-\x7e]*)?", re.ASCII)


def return_to(wanted: str | None) -> str | None:
    """Return the wanted path, or None where it leads outside the admin. Browsers read a backslash as a slash and
    skip tabs and line ends, so none of these may occur."""
    if not wanted or len(wanted) > LONGEST_RETURN_ADDRESS or not PLAIN_ADDRESS.fullmatch(wanted):
        return None
    parts = urlsplit(wanted)
    return None if parts.scheme or parts.netloc or "//" in parts.path else wanted


def known_device(email: str) -> str | None:
    """Return the id under which this browser is known for the user of the email address; None where it is not."""
    return device_of_token(_sent_device(), email, ports.clock().now())


def remember_device(response: Response, user: User) -> None:
    """Remember the device of a user. To be called when the user has just signed in."""
    secure = bool(current_app.config["SESSION_COOKIE_SECURE"])
    value = device_token_with_user(_sent_device(), user, ports.clock().now())
    response.set_cookie(
        _device_cookie(), value, DEVICE_KNOWN_FOR, path="/", secure=secure, httponly=True, samesite="Lax"
    )


def _sent_device() -> str:
    return request.cookies.get(_device_cookie(), "")


def _device_cookie() -> str:
    """Return the name of the cookie. Behind https it has the prefix with which browsers let no other host set it."""
    return "__Host-device" if current_app.config["SESSION_COOKIE_SECURE"] else "device"


NOT_YOURS = "This is not your password."


def user_signing_in() -> User:
    """Return the user who signs in. Raises Invalid, TooManyRequests."""
    email = request.form.get("email", "")
    return user_by_credentials(email, request.form.get("password", ""), known_device(email))


def user_by_password(field: str) -> User:
    """Return the signed-in user once the password in this field was checked. Raises Invalid, TooManyRequests."""
    email = current_user.email
    try:
        return user_by_credentials(email, request.form.get(field, ""), known_device(email))
    except Invalid:
        raise Invalid.one("wrong_credentials", NOT_YOURS, f"#/{field}") from None


Answer = str | Response | tuple[str, int]


@login_manager.user_loader
def load_user(token: str) -> SignedIn | None:
    found = sign_in_sessions.find_session(ports.clock(), token, request_host())
    if found and found.is_stale:
        _note_seen(token)
    return found


def _note_seen(token: str) -> None:
    """Note that a session was seen, unless the database is busy, which must not keep the user from reading a page."""
    try:
        with transaction():
            sign_in_sessions.see(ports.clock(), token)
    except OperationalError:
        current_app.logger.info("sign_in_not_seen")


@bp.get("/login")
@public
def sign_in() -> Answer:
    wanted = return_to(request.args.get("next"))
    if not current_user.is_authenticated:
        return sign_in_page(FieldErrors(), wanted)
    if _only_sells(current_user):
        return render_template("admin/sign_in/till.html", shop_address=_shop_address(current_user))
    return redirect(wanted or url_for("admin.dashboard"))


@bp.post("/login")
@public
def sign_in_check() -> Answer:
    wanted = return_to(request.form.get("next"))
    try:
        user = user_signing_in()
    except Invalid as wrong:
        return sign_in_page(FieldErrors(wrong), wanted), 400
    if second_factors.is_on(user.id):
        session[SECOND_STEP] = issue_second_step(user, ports.clock().now())
        return redirect(url_for("admin.second_step", next=wanted))
    return admit(user, site_of_host(), wanted)


@bp.post("/logout")
@public
def sign_out() -> Answer:
    if current_user.is_authenticated:
        with transaction():
            sign_in_sessions.close_session(current_user.token)
    session.clear()
    return redirect(url_for("admin.sign_in"))


@bp.post("/site")
@requires(Permission.USE_ADMIN)
def switch_site() -> Answer:
    chosen = sent_number(request.form.get("site", ""))
    if chosen is None:
        raise NotFound("There is no such shop.")
    with transaction():
        sign_in_sessions.switch_site(current_user.token, current_user.user_id, chosen)
    return redirect(url_for("admin.dashboard"))


@bp.get("/password")
@requires(Permission.USE_ADMIN)
def password() -> Answer:
    return render_template("admin/sign_in/password.html", errors=FieldErrors())


@bp.post("/password")
@requires(Permission.USE_ADMIN)
def password_change() -> Answer:
    """Change the password, which ends every session of the user; this browser gets a new one on the same shop."""
    try:
        user = user_by_password("current")
        with transaction():
            accounts.set_password(password_memory(), user, request.form.get("password", ""))
            activity.record(current_author(), "user.password", ("user", str(user.id)), "Changed their own password")
    except Invalid as wrong:
        return render_template("admin/sign_in/password.html", errors=FieldErrors(wrong)), 400
    response = admit(user, current_user.site_id)
    flash("Password changed. You are signed out everywhere else.", "good")
    return response


def site_of_host() -> int:
    """Return the site of the address. Raises NotFound at a host without a shop."""
    site = site_by_host(request_host())
    if site is None:
        raise NotFound("There is no shop at this address.")
    return site.id


def admit(user: User, site_id: int, wanted: str | None = None) -> Response:
    """Open a new session on the site in the place of the browser's own, and redirect to the wanted page, by default the
    dashboard; for users who only sell, to the page that says where."""
    clock, host = ports.clock(), request_host()
    with transaction():
        if current_user.is_authenticated:
            sign_in_sessions.close_session(current_user.token)
        token = sign_in_sessions.open_session(clock, user, host, site_id)
    session.clear()
    login_user(sign_in_sessions.find_session(clock, token, host))
    page = url_for("admin.sign_in") if _only_sells(current_user) else wanted or url_for("admin.dashboard")
    response = redirect(page)
    remember_device(response, user)
    return response


def _only_sells(user: SignedIn) -> bool:
    """Whether a user works at tills and has no page of the admin."""
    return allowed(user.roles, Permission.USE_POS) and not allowed(user.roles, Permission.USE_ADMIN)


def _shop_address(user: SignedIn) -> str:
    """Return the address of the user's shop: the one that the browser used, unless it is another shop's."""
    here = site_by_host(request_host())
    if here is not None and here.id == user.site_id:
        return request.host
    return next(site.host for site in accounts.reachable_sites(user.user_id) if site.id == user.site_id)


def sign_in_page(errors: FieldErrors, wanted: str | None) -> str:
    site = site_by_host(request_host())
    context = {"errors": errors, "email": request.form.get("email", ""), "wanted": wanted or ""}
    return render_template("admin/sign_in/login.html", site=site.name if site else "", **context)
