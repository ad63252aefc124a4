"""Sessions of programs that are signed in at /v1 for a user, how they end, and their refresh tokens.

Each refresh token is made from the one before it, so that a spent one differs from a forged one. A token is
`<session id>.<43 characters>`. The first secret is random; every next one is the HMAC of the token before it, which
only the holder of the key can make. The key never leaves the server, so a stolen token reveals nothing about its
successors, while the server finds out how old a token is by going on from it to the current one. Nothing but the hash
of the current token is kept.

Sources: RFC 9700 section 4.14.2 for rotation and reuse, ASVS 5 sections 7.3 and 7.4 for the ends of sessions.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
import uuid
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import ColumnElement, and_, exists, select, true, update

from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Forbidden, Invalid, NotFound, Unauthenticated
from app.domain.sites import activity, throttle
from app.domain.sites.accounts import Role, SessionsEnded, remove_passkeys_of, roles_among, roles_of
from app.domain.sites.models import ApiSession, Domain, RoleGrant, User, UserPasskey
from app.domain.sites.session_unlock import NO_PROOF, Proof, check_proof
from app.events import publish
from app.extensions import db

LONGEST = timedelta(hours=24)  # From signing in; nothing extends it.
IDLE = timedelta(hours=12)  # Without a refresh.
GRACE = timedelta(seconds=20)  # An answer may get lost, and two windows may refresh at once.
ENDED_AS_SUSPICIOUS = "api_session.end"  # In the activity log.
OLDEST_SPENT = int(LONGEST / throttle.REFRESH_WINDOW) * throttle.REFRESHES
TILL_ROLES = (Role.POS_AGENT, Role.ADMIN, Role.SUPERADMIN)
NO_TOKEN = "This token is not one of ours, or is for another shop."
OVER = "This session has reached its end. Sign in again."
ENDED = "This session was ended. Sign in again."
REUSED = "This refresh token was used before, so the session was ended. Sign in again."
REFRESH_TOKEN = re.compile(r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.[A-Za-z0-9_-]{43}", re.ASCII)
SHORTEST_KEY = 32  # Bytes.


class Audience(StrEnum):
    """The purpose of a session: managing the shop, or a till."""

    API = "api"
    POS = "pos"


class Because(StrEnum):
    """The reason why a session ended before its time."""

    LOGOUT = "LOGOUT"
    PIN_LOCKOUT = "PIN_LOCKOUT"
    REVOKED = "REVOKED"
    REFRESH_REUSE = "REFRESH_REUSE"
    DEVICE_CHANGED = "DEVICE_CHANGED"
    AGENT_DISABLED = "AGENT_DISABLED"
    OVER_LIMIT = "OVER_LIMIT"


@dataclass(frozen=True, slots=True)
class Device:
    """The device that a program runs on, as it says; both are optional and at most 100 characters long."""

    id: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class ApiCaller:
    """The user and site of an API session for the length of a request. Roles are read at each request."""

    session_id: str
    user_id: int
    email: str
    display_name: str
    site_id: int
    roles: frozenset[Role]
    session_version: int
    audience: Audience
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Granted:
    caller: ApiCaller
    refresh_token: str


# Whether somebody other than its owner seems to hold the session of this id.
Suspicion = Callable[[str], bool]


def _is_never_stolen(_session_id: str) -> bool:
    return False


class RoleRequired(Forbidden):
    code = "role_required"


class TillRoleRequired(Forbidden):
    """The error of a user without a role for a till. `missingRoles` are those of which one is needed."""

    code = "pos_role_required"

    def __init__(self) -> None:
        *others, last = TILL_ROLES
        roles = f"{', '.join(others)} or {last}"
        message = f"Working at a till takes the role {roles} on this site. Ask someone who runs it for one."
        super().__init__(message, missingRoles=[role.value for role in TILL_ROLES])


def first_token(session_id: str) -> str:
    return f"{session_id}.{secrets.token_urlsafe(32)}"


def session_id_in(token: str) -> str | None:
    """Return the id of the session that a token names; None for a text that does not have the form of a token."""
    found = REFRESH_TOKEN.fullmatch(token)
    return found[1] if found else None


def next_token(key: bytes, token: str) -> str:
    """Return the successor of a token, always the same for the same key and token. Raises ValueError for a key under 32
    bytes."""
    if len(key) < SHORTEST_KEY:
        raise ValueError(f"The key for refresh tokens must have at least {SHORTEST_KEY} bytes.")
    digest = hmac.digest(key, token.encode(), "sha256")
    return f"{token.partition('.')[0]}.{base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}"


def hash_token(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def token_age(key: bytes, token: str, current_hash: str, oldest: int) -> int | None:
    """Return the number of tokens that were issued after this one: 0 for the current, None for one that never belonged
    to the chain or is older than `oldest`."""
    for steps in range(oldest + 1):
        if hmac.compare_digest(hash_token(token), current_hash):
            return steps
        token = next_token(key, token)
    return None


def open_session(clock: Clock, user: User, site_id: int, audience: Audience, device: Device) -> Granted:
    """Open a session. Raises Forbidden for a user without any role on the site, who could do nothing with a token, and
    TillRoleRequired for a till when the user holds no role for one."""
    roles = roles_of(user.id, site_id)
    if audience is Audience.API and not roles:
        raise RoleRequired("You have no role on this site. Ask someone who runs it for one.")
    if audience is Audience.POS and roles.isdisjoint(TILL_ROLES):
        raise TillRoleRequired
    now = clock.now()
    session_id = str(uuid.uuid4())
    token = first_token(session_id)
    session = ApiSession(
        id=session_id,
        user_id=user.id,
        site_id=site_id,
        refresh_hash=hash_token(token),
        device_id=device.id,
        device_name=device.name,
        audience=audience.value,
        session_version=user.session_version,
        created_at=now,
        last_used_at=now,
        expires_at=now + LONGEST,
    )
    db.session.add(session)
    return Granted(_caller(session, user, roles), token)


def find_caller(
    clock: Clock, session_id: str, user_id: int, host: str | None, roles_then: Collection[str]
) -> ApiCaller:
    """Return the caller of a session. `host` must be one of the session's site; None skips that check. Raises
    Unauthenticated for an unknown or ended session, and when the user lost one of the roles held when the access token
    was issued (`roles_then`)."""
    found = _find(session_id, host)
    if found is None or found[1].id != user_id:
        raise Unauthenticated("token_invalid", NO_TOKEN)
    session, user = found
    _check_standing(clock, session, user)
    grants = db.session.execute(select(RoleGrant.role, RoleGrant.site_id).where(RoleGrant.user_id == user.id))
    roles = roles_among(grants, session.site_id)
    if not {role.value for role in roles}.issuperset(roles_then):
        raise Unauthenticated("session_revoked", ENDED)
    return _caller(session, user, roles)


def refresh(
    clock: Clock,
    key: bytes,
    token: str,
    host: str,
    device_id: str | None,
    is_stolen: Suspicion = _is_never_stolen,
    proof: Proof = NO_PROOF,
) -> Granted | Unauthenticated:
    """Exchange a refresh token for its successor. A spent token ends the session, which is why that refusal is
    returned, to be raised after the commit; only within GRACE of the exchange it gets the same successor again.
    `is_stolen` says of a session id whether somebody else seems to hold it. `proof` is what a session that is bound to
    a passkey needs; without it nothing is exchanged and nothing ends.

    Raises Unauthenticated when nothing was changed, TooManyRequests, and Invalid when the session belongs to a device
    that is not named. `key` has at least 32 bytes.
    """
    admitted = _admit(clock, key, token, host, device_id, is_stolen)
    if isinstance(admitted, Unauthenticated):
        return admitted
    session, user, spent = admitted
    if refusal := check_proof(clock, session, user, proof, is_repeated=spent > 0):
        return refusal
    throttle.note_refresh(clock, session.id)
    fresh = next_token(key, token)
    if not spent:
        session.refresh_hash, session.last_used_at = hash_token(fresh), clock.now()
    return Granted(_caller(session, user, roles_of(user.id, session.site_id)), fresh)


def credential_to_unlock(
    clock: Clock, key: bytes, token: str, host: str, device_id: str | None, is_stolen: Suspicion = _is_never_stolen
) -> str | Unauthenticated:
    """Return the id of the passkey, in Base64, whose answer the next refresh with this token needs. The token stays as
    it is; what ends a session at a refresh ends it here, too, and that refusal is returned.

    Raises Unauthenticated and Invalid as a refresh does, and NotFound when the session is bound to no passkey.
    """
    admitted = _admit(clock, key, token, host, device_id, is_stolen)
    if isinstance(admitted, Unauthenticated):
        return admitted
    session, _user, _spent = admitted
    bound = UserPasskey.id == session.passkey_id, UserPasskey.site_id == session.site_id
    credential_id = db.session.scalar(select(UserPasskey.credential_id).where(*bound))
    if credential_id is None:
        raise NotFound("This session is not unlocked with a passkey.", "passkey_not_found")
    return credential_id


def _admit(
    clock: Clock, key: bytes, token: str, host: str, device_id: str | None, is_stolen: Suspicion
) -> tuple[ApiSession, User, int] | Unauthenticated:
    """Return the session of a refresh token, its user and the age of the token: 0, or 1 within GRACE. A refusal is
    returned where the session was ended, and raised where nothing was changed."""
    found = _find(session_id_in(token), host, to_change=True)
    if found is None:
        raise Unauthenticated("token_invalid", NO_TOKEN)
    session, user = found
    spent = token_age(key, token, session.refresh_hash, OLDEST_SPENT)
    if spent is None:
        raise Unauthenticated("token_invalid", NO_TOKEN)
    if session.ended_because == Because.REFRESH_REUSE.value:
        raise Unauthenticated("refresh_reused", REUSED)
    _check_standing(clock, session, user)
    refusal = _end_if_suspicious(clock, session, user, spent, device_id, is_stolen)
    return refusal or (session, user, spent)


def session_of_refresh_token(key: bytes, token: str, host: str) -> str | None:
    """Return the id of the session whose current refresh token this is; None for any other text."""
    found = _find(session_id_in(token), host)
    if found is None or token_age(key, token, found[0].refresh_hash, 0) is None:
        return None
    return found[0].id


def end(clock: Clock, session_id: str, because: Because) -> None:
    """End a session; one that ended before keeps its reason."""
    _end(clock, because, ApiSession.id == session_id)


def end_as_suspicious(clock: Clock, session_id: str, because: Because, why: str) -> None:
    """End a session with an entry in the activity log; one that ended before is left as it is."""
    row = db.session.execute(
        select(ApiSession, User)
        .join(User, User.id == ApiSession.user_id)
        .where(ApiSession.id == session_id, ApiSession.ended_at.is_(None))
    ).one_or_none()
    if row is not None:
        _end_with_note(clock, row[0], row[1], because, why)


def end_of_user(clock: Clock, user_id: int) -> None:
    """End all API sessions of a user, on every site, and remove the passkeys that unlocked them."""
    _end(clock, Because.REVOKED, ApiSession.user_id == user_id)
    remove_passkeys_of(user_id)
    publish(SessionsEnded(user_id))


def end_of_device(clock: Clock, site_id: int, user_id: int, device_id: str) -> None:
    """End a user's sessions on a device, which `device_id` names as the app does."""
    same = ApiSession.site_id == site_id, ApiSession.user_id == user_id, ApiSession.device_id == device_id
    _end(clock, Because.REVOKED, and_(*same))
    publish(SessionsEnded(user_id))


def end_of_passkey(clock: Clock, user_id: int, passkey_id: str) -> None:
    """End the sessions of a user that are bound to a passkey."""
    _end(clock, Because.REVOKED, and_(ApiSession.user_id == user_id, ApiSession.passkey_id == passkey_id))
    publish(SessionsEnded(user_id))


def _end(clock: Clock, because: Because, which: ColumnElement[bool]) -> None:
    ended = update(ApiSession).where(which, ApiSession.ended_at.is_(None))
    db.session.execute(ended.values(ended_at=clock.now(), ended_because=because.value))


def _find(session_id: str | None, host: str | None, to_change: bool = False) -> tuple[ApiSession, User] | None:
    """Return a session and its user; None where there is none, or none at the host. `to_change` makes two refreshes at
    once wait for each other."""
    answers = exists().where(Domain.site_id == ApiSession.site_id, Domain.host == host)
    wanted = (ApiSession.id == session_id, true() if host is None else answers)
    query = select(ApiSession, User).join(User, User.id == ApiSession.user_id).where(*wanted)
    if to_change:
        query = query.with_for_update(of=ApiSession)
    row = db.session.execute(query).one_or_none() if session_id else None
    return (row[0], row[1]) if row else None


def _check_standing(clock: Clock, session: ApiSession, user: User) -> None:
    now = clock.now()
    if session.ended_at is not None or not user.enabled or session.session_version != user.session_version:
        raise Unauthenticated("session_revoked", ENDED)
    # `abs`: also one that was used while the clock was far ahead.
    if now >= session.expires_at or abs(now - session.last_used_at) >= IDLE:
        raise Unauthenticated("session_expired", OVER)


def _end_if_suspicious(
    clock: Clock, session: ApiSession, user: User, spent: int, device_id: str | None, is_stolen: Suspicion
) -> Unauthenticated | None:
    """End a session that a thief seems to have, and return the refusal; None without suspicion."""
    if spent > 1 or (spent == 1 and clock.now() - session.last_used_at > GRACE):
        _end_with_note(clock, session, user, Because.REFRESH_REUSE, "a refresh token was used twice")
        return Unauthenticated("refresh_reused", REUSED)
    if session.device_id is not None and device_id is None:
        raise Invalid.one("required", "This session belongs to a device: give its deviceId.", "#/deviceId")
    if session.device_id not in (None, device_id):
        _end_with_note(clock, session, user, Because.DEVICE_CHANGED, "another device used its refresh token")
        return Unauthenticated("session_revoked", ENDED)
    if is_stolen(session.id):
        _end_with_note(clock, session, user, Because.DEVICE_CHANGED, "another program used its refresh token")
        return Unauthenticated("session_revoked", ENDED)
    return None


def _end_with_note(clock: Clock, session: ApiSession, user: User, because: Because, why: str) -> None:
    session.ended_at, session.ended_because = clock.now(), because.value
    summary = f"An API session was ended: {why}"
    subject = ("user", str(user.id))
    activity.record(Author(session.site_id, user.display_name, clock), ENDED_AS_SUSPICIOUS, subject, summary)


def _caller(session: ApiSession, user: User, roles: frozenset[Role]) -> ApiCaller:
    return ApiCaller(
        session_id=session.id,
        user_id=user.id,
        email=user.email,
        display_name=user.display_name,
        site_id=session.site_id,
        roles=roles,
        session_version=session.session_version,
        audience=Audience(session.audience),
        expires_at=session.expires_at,
    )
