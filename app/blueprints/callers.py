"""Who sends a request: its host, the signed-in user as the author of changes, the check of passwords, and the rate
limits of callers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from flask import current_app, g, request
from flask_login import current_user

from app import ports
from app.config import Config
from app.domain.orders.limits import RECIPIENT_KEY_PURPOSE
from app.domain.shared import strict_json
from app.domain.shared.author import Author, Origin
from app.domain.shared.rate_limit import Rate
from app.domain.sites import accounts, throttle
from app.domain.sites.accounts import DEMO_PASSWORD, Role
from app.domain.sites.models import User
from app.domain.sites.passkey_ceremonies import RelyingParty
from app.domain.sites.throttle import is_this_machine, network
from app.ports import clock
from app.transaction import transaction
from app.web import callers
from app.web.permissions import View


def request_host() -> str:
    """Return the host in the form in which domains are stored: lower case, without port and final dot."""
    host, _, port = request.host.rpartition(":")
    return (host if port.isdigit() else request.host).lower().removesuffix(".")


def is_superadmin() -> bool:
    return Role.SUPERADMIN in current_user.roles


def current_author() -> Author:
    return Author(current_user.site_id, current_user.display_name, clock(), Origin.ADMIN)


def user_by_credentials(email: str, password: str, device_id: str | None = None) -> User:
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


LONGEST_CREDENTIAL = 16_384  # Characters; those of RSA with an attestation have some 4,000.


def relying_party() -> RelyingParty:
    """Return the shop as the browser of the request knows it, for passkeys."""
    return RelyingParty(request_host(), f"{request.scheme}://{request.host.lower()}")


def sent_credential() -> Mapping[str, Any]:
    """Return what a browser answered for a passkey, in the field `credential` of the form; empty for what is none."""
    text = request.form.get("credential", "")
    try:
        answer = strict_json.loads(text[:LONGEST_CREDENTIAL])
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


def password_memory() -> int:
    """Return the memory for a password hash, in KiB."""
    config: Config = current_app.config["SHOP"]
    return config.password_memory_kib


TILL_READS = ("pos-read", 120)  # A minute.


def rate_limited(action: str, most: int, seconds: int = 60) -> Callable[[View], View]:
    """Answer 429 with Retry-After beyond so many requests of a caller. Stands below the decorator that reads the
    token. Views that name the same action share its limit."""
    rate = Rate(most, seconds)

    def decorate(view: View) -> View:
        @wraps(view)
        def limited(*args: Any, **kwargs: Any) -> Any:
            refuse_beyond(action, rate)
            return view(*args, **kwargs)

        return limited  # type: ignore[return-value]

    return decorate


def refuse_beyond(action: str, rate: Rate) -> None:
    """Count a request of the caller. Raises TooManyRequests beyond the rate."""
    if key := _rate_key(action):
        callers.refuse_beyond(key, rate)


def seconds_to_wait(action: str, rate: Rate) -> int:
    """Count a request of the caller; return the seconds until another is allowed, 0 when this one is within the
    limit."""
    key = _rate_key(action)
    return callers.seconds_to_wait(key, rate) if key else 0


def network_of_client() -> str | None:
    """Return the network of the client; None for this machine, whose address a proxy that TRUSTED_PROXIES does not name
    gives to every client."""
    address = request.remote_addr or "unknown"
    return None if is_this_machine(address) else network(address)


def _rate_key(action: str) -> str | None:
    """Return the key of the client's limit; None for this machine."""
    if caller := g.get("api_caller"):
        return callers.user_key(action, caller.site_id, caller.user_id)
    client = network_of_client()
    return None if client is None else f"{action}:address:{client}"


def recipient_key() -> bytes:
    """Return the key under which mails to one recipient are counted, for every surface that has them sent."""
    config: Config = current_app.config["SHOP"]
    return config.key_for(RECIPIENT_KEY_PURPOSE)
