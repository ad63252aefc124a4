"""What a device stores, signed, about the users who signed in on it before: a browser as a cookie, a program as its
`deviceToken`. It opens nothing: it only says whose failures count for the device alone."""

from __future__ import annotations

from datetime import datetime

from flask import current_app
from itsdangerous import BadSignature, URLSafeSerializer

from app.domain.sites import accounts, sign_in_sessions
from app.domain.sites.models import User
from app.domain.sites.sign_in_sessions import KnownDevice

LONGEST_TOKEN = 2_048  # Twenty users take some 1,200 characters.


def device_of_token(token: str, email: str, now: datetime) -> str | None:
    """Return the id under which the device with this token is known for the user of the email address; None where it is
    not."""
    known = _read(token)
    user = accounts.find_user(email) if known else None
    return sign_in_sessions.device_of(known, user, now) if user else None


def token_with_user(token: str, user: User, now: datetime) -> str:
    """Return the token that the device stores in place of this one after the user has signed in on it."""
    return str(_serializer().dumps(sign_in_sessions.device_with_user(_read(token), user, now)))


def _read(token: str) -> list[KnownDevice]:
    """Return what a token says; nothing for one that the shop did not sign."""
    if not 0 < len(token) <= LONGEST_TOKEN or not token.isascii():
        return []
    try:
        return [KnownDevice(*device) for device in _serializer().loads(token)]
    except BadSignature:
        return []


def _serializer() -> URLSafeSerializer:
    return URLSafeSerializer(current_app.config["SECRET_KEY"], salt="known-devices")
