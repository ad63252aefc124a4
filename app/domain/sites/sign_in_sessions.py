"""Sessions of signed-in browsers, and the devices on which a user signed in before.

The browser holds a random token, the database its hash, the site and the host. A device itself remembers who signed in
on it (OWASP: device cookies). Wrong passwords from a known device count for it alone, so that guesses from elsewhere do
not lock the user out of it.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import delete, select, update

from app.domain.shared.clock import Clock
from app.domain.shared.problems import NotFound
from app.domain.sites.accounts import Role, reachable_sites, roles_among
from app.domain.sites.models import RoleGrant, SignInSession, Site, User
from app.extensions import db

IDLE = timedelta(hours=8)
LONGEST = timedelta(hours=24)
SEEN_EVERY = timedelta(minutes=5)
DEVICE_KNOWN_FOR = timedelta(days=400)  # Browsers keep no cookie longer.
MOST_USERS_OF_DEVICE = 20  # Of one device: the staff who share a till.


@dataclass(frozen=True, slots=True)
class SignedIn:
    """The signed-in user, and the site to act on. `roles` were read for this request, so one taken away is gone at
    once. `is_stale` says that the session is to be marked as seen again."""

    token: str
    user_id: int
    email: str
    display_name: str
    site_id: int
    site_name: str
    roles: frozenset[Role]
    host: str
    is_stale: bool = False
    is_authenticated: bool = True
    is_active: bool = True
    is_anonymous: bool = False

    def get_id(self) -> str:
        return self.token


def open_session(clock: Clock, user: User, host: str, site_id: int) -> str:
    """Open a session at the host, and return its token. It acts on the given site where the user holds a role there,
    else on the first site where they do."""
    reachable = [site.id for site in reachable_sites(user.id)]
    token = secrets.token_urlsafe(32)
    now = clock.now()
    db.session.add(
        SignInSession(
            token_hash=_hash_token(token),
            user_id=user.id,
            site_id=site_id if site_id in reachable or not reachable else reachable[0],
            host=host,
            session_version=user.session_version,
            created_at=now,
            last_seen_at=now,
        )
    )
    return token


def find_session(clock: Clock, token: str, host: str) -> SignedIn | None:
    """Return the session of a token; None for one that ended, idled too long, belongs to another host or to a user who
    may not sign in."""
    found = db.session.execute(
        select(SignInSession, User, Site.name)
        .join(User, User.id == SignInSession.user_id)
        .join(Site, Site.id == SignInSession.site_id)
        .where(SignInSession.token_hash == _hash_token(token), SignInSession.host == host)
    ).one_or_none()
    if found is None:
        return None
    session, user, site_name = found
    if not _is_valid(clock, session, user):
        return None
    grants = db.session.execute(select(RoleGrant.role, RoleGrant.site_id).where(RoleGrant.user_id == user.id))
    return SignedIn(
        token=token,
        user_id=user.id,
        email=user.email,
        display_name=user.display_name,
        site_id=session.site_id,
        site_name=site_name,
        roles=roles_among(grants, session.site_id),
        host=host,
        is_stale=abs(clock.now() - session.last_seen_at) >= SEEN_EVERY,
    )


def see(clock: Clock, token: str) -> None:
    """Note that a session was used just now."""
    db.session.execute(
        update(SignInSession).where(SignInSession.token_hash == _hash_token(token)).values(last_seen_at=clock.now())
    )


def switch_site(token: str, user_id: int, site_id: int) -> None:
    """Make a session act on another site from now on. Raises NotFound for a site that the user cannot reach."""
    if site_id not in {site.id for site in reachable_sites(user_id)}:
        raise NotFound("There is no such shop.")
    db.session.execute(
        update(SignInSession).where(SignInSession.token_hash == _hash_token(token)).values(site_id=site_id)
    )


def close_session(token: str) -> None:
    db.session.execute(delete(SignInSession).where(SignInSession.token_hash == _hash_token(token)))


def close_sessions_of(user_id: int) -> None:
    """Close all browser sessions of a user, for good."""
    db.session.execute(delete(SignInSession).where(SignInSession.user_id == user_id))


def close_other_sessions(user_id: int, token: str) -> None:
    """Close the browser sessions of a user except the one of the token."""
    others = SignInSession.user_id == user_id, SignInSession.token_hash != _hash_token(token)
    db.session.execute(delete(SignInSession).where(*others))


def _is_valid(clock: Clock, session: SignInSession, user: User) -> bool:
    """Whether a session is valid; one that was opened or used while the clock was far ahead holds no longer than any
    other."""
    now = clock.now()
    in_time = abs(now - session.last_seen_at) < IDLE and now - session.created_at < LONGEST
    return in_time and user.enabled and session.session_version == user.session_version


def _hash_token(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


class KnownDevice(NamedTuple):
    """A device as one user knows it: `id` is random, with what `listed_device` reads; `known_at` in seconds since 1970.
    A change of the password, which raises the user's session version, makes it unknown."""

    id: str
    user_id: int
    session_version: int
    known_at: int


def device_of(known: Iterable[KnownDevice], user: User, now: datetime) -> str | None:
    """Return the id under which the device is known for the user, None where it is not."""
    oldest = (now - DEVICE_KNOWN_FOR).timestamp()
    return next(
        (
            device.id
            for device in known
            if (device.user_id, device.session_version) == (user.id, user.session_version) and device.known_at > oldest
        ),
        None,
    )


def device_with_user(known: Iterable[KnownDevice], user: User, now: datetime, listed_as: str = "") -> list[KnownDevice]:
    """Return the list that the device stores after the user signed in, the latest first. `listed_as` is the id of the
    device in the user's list of devices (app/domain/sites/devices.py), empty where it is not listed."""
    known_id = secrets.token_urlsafe(12) + (f".{listed_as}" if listed_as else "")
    latest = KnownDevice(known_id, user.id, user.session_version, int(now.timestamp()))
    return [latest, *(device for device in known if device.user_id != user.id)][:MOST_USERS_OF_DEVICE]


def listed_device(known_id: str) -> str:
    """Return the id in the user's list of devices that a known device has, empty where it is not listed."""
    return known_id.partition(".")[2]
