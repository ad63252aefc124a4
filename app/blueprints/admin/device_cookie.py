"""The signed cookie by which a browser shows who signed in there before."""

from __future__ import annotations

from flask import current_app, request
from itsdangerous import BadSignature, URLSafeSerializer
from werkzeug.wrappers import Response

from app import ports
from app.domain.sites import accounts, known_devices
from app.domain.sites.known_devices import KnownDevice
from app.domain.sites.models import User

LONGEST_COOKIE = 2_048  # Five users take some 400 characters.


def known_device(email: str) -> str | None:
    """Return the id under which this browser is known for the user of the email address; None where it is not."""
    known = _sent()
    user = accounts.find_user(email) if known else None
    return known_devices.device_of(known, user, ports.clock().now()) if user else None


def remember_device(response: Response, user: User) -> None:
    """Remember the device of a user. To be called when the user has just signed in."""
    known = known_devices.with_user(_sent(), user, ports.clock().now())
    secure = bool(current_app.config["SESSION_COOKIE_SECURE"])
    value = str(_serializer().dumps(known))
    kept = known_devices.LONGEST
    response.set_cookie(_name(), value, kept, path="/", secure=secure, httponly=True, samesite="Lax")


def _sent() -> list[KnownDevice]:
    sent = request.cookies.get(_name(), "")
    if not 0 < len(sent) <= LONGEST_COOKIE:
        return []
    try:
        return [KnownDevice(*device) for device in _serializer().loads(sent)]
    except BadSignature:
        return []


def _serializer() -> URLSafeSerializer:
    return URLSafeSerializer(current_app.config["SECRET_KEY"], salt="known-devices")


def _name() -> str:
    """Return the name of the cookie. Behind https it has the prefix with which browsers let no other host set it."""
    return "__Host-device" if current_app.config["SESSION_COOKIE_SECURE"] else "device"
