"""Passwords in forms: of users who sign in, and of signed-in users who confirm who they are."""

from __future__ import annotations

from flask import request
from flask_login import current_user

from app.blueprints.admin.device_cookie import known_device
from app.blueprints.password_check import checked_user
from app.domain.shared.problems import Invalid
from app.domain.sites.models import User

NOT_YOURS = "This is not your password."


def user_signing_in() -> User:
    """Return the user who signs in. Raises Invalid, TooManyRequests."""
    email = request.form.get("email", "")
    return checked_user(email, request.form.get("password", ""), known_device(email))


def user_by_password(field: str) -> User:
    """Return the signed-in user once the password in this field was checked. Raises Invalid, TooManyRequests."""
    email = current_user.email
    try:
        return checked_user(email, request.form.get(field, ""), known_device(email))
    except Invalid:
        raise Invalid.one("wrong_credentials", NOT_YOURS, f"#/{field}") from None
