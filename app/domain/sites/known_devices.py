"""Devices on which a user signed in before, as a device itself remembers them (OWASP: device cookies).

Wrong passwords from a known device count for it alone, so that guesses from elsewhere do not lock the user out of it.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from app.domain.sites.models import User

LONGEST = timedelta(days=400)  # Browsers keep no cookie longer.
MOST_USERS = 20  # Of one device: the staff who share a till.


class KnownDevice(NamedTuple):
    """A device as one user knows it: `id` is random, `known_at` in seconds since 1970. A change of the password, which
    raises the user's session version, makes it unknown."""

    id: str
    user_id: int
    session_version: int
    known_at: int


def device_of(known: Iterable[KnownDevice], user: User, now: datetime) -> str | None:
    """Return the id under which the device is known for the user, None where it is not."""
    oldest = (now - LONGEST).timestamp()
    return next(
        (
            device.id
            for device in known
            if (device.user_id, device.session_version) == (user.id, user.session_version) and device.known_at > oldest
        ),
        None,
    )


def with_user(known: Iterable[KnownDevice], user: User, now: datetime) -> list[KnownDevice]:
    """Return the list that the device stores after the user signed in, the latest first."""
    latest = KnownDevice(secrets.token_urlsafe(12), user.id, user.session_version, int(now.timestamp()))
    return [latest, *(device for device in known if device.user_id != user.id)][:MOST_USERS]
