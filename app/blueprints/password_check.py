"""Checking a password for whoever signs in, in a browser or at /v1: one throttle for both."""

from __future__ import annotations

from flask import current_app, request

from app import ports
from app.config import Config
from app.domain.sites import accounts, throttle
from app.domain.sites.models import User
from app.domain.sites.passwords import DEMO_PASSWORD
from app.transaction import transaction


def checked_user(email: str, password: str) -> User:
    """The user who gave the right password. A try is counted before the password is looked at, and the look, which
    is slow on purpose, holds no transaction. Raises Invalid, TooManyRequests."""
    clock, address = ports.clock(), request.remote_addr or "unknown"
    email = accounts.normal_email(email)[:254]
    with transaction():
        throttle.note_try(clock, email, address)
    config: Config = current_app.config["SHOP"]
    refused = (DEMO_PASSWORD,) if config.production else ()
    user = accounts.check_password(password_memory(), email, password, refused)
    with transaction():
        throttle.take_back(email, address)
    return user


def password_memory() -> int:
    """KiB for a hash."""
    config: Config = current_app.config["SHOP"]
    return config.password_memory_kib
