"""The signed cookie by which a browser shows who signed in there before."""

from __future__ import annotations

from flask import current_app, request
from werkzeug.wrappers import Response

from app import ports
from app.domain.sites.known_devices import LONGEST
from app.domain.sites.models import User
from app.tokens.device_tokens import device_of_token, token_with_user


def known_device(email: str) -> str | None:
    """Return the id under which this browser is known for the user of the email address; None where it is not."""
    return device_of_token(_sent(), email, ports.clock().now())


def remember_device(response: Response, user: User) -> None:
    """Remember the device of a user. To be called when the user has just signed in."""
    secure = bool(current_app.config["SESSION_COOKIE_SECURE"])
    value = token_with_user(_sent(), user, ports.clock().now())
    response.set_cookie(_name(), value, LONGEST, path="/", secure=secure, httponly=True, samesite="Lax")


def _sent() -> str:
    return request.cookies.get(_name(), "")


def _name() -> str:
    """Return the name of the cookie. Behind https it has the prefix with which browsers let no other host set it."""
    return "__Host-device" if current_app.config["SESSION_COOKIE_SECURE"] else "device"
