"""Password check for browsers and for /v1, with one throttle for both."""

from __future__ import annotations

from flask import current_app, request

from app import ports
from app.config import Config
from app.domain.sites import accounts, throttle
from app.domain.sites.models import User
from app.domain.sites.passwords import DEMO_PASSWORD
from app.transaction import transaction


def checked_user(email: str, password: str, device_id: str | None = None) -> User:
    """Return the user of an email address and password. The attempt is counted before the check, which is slow on
    purpose and holds no transaction: for the device where the user is known there, else for account and network.

    Raises Invalid, TooManyRequests.
    """
    clock, address = ports.clock(), request.remote_addr or "unknown"
    email = accounts.normal_email(email)[:254]
    refusal = None
    with transaction():
        if device_id:
            throttle.note_device_attempt(clock, device_id)
        else:
            refusal = throttle.note_attempt(clock, email, address)
    if refusal:
        raise refusal
    config: Config = current_app.config["SHOP"]
    refused = (DEMO_PASSWORD,) if config.production else ()
    user = accounts.check_password(password_memory(), email, password, refused)
    with transaction():
        if device_id:
            throttle.forget_device_attempts(device_id)
        else:
            throttle.forget_attempt(email, address)
    return user


def password_memory() -> int:
    """Return the memory for a password hash, in KiB."""
    config: Config = current_app.config["SHOP"]
    return config.password_memory_kib
