"""Personal access tokens: a program, such as an AI agent, acts with one as a user on one site, with the roles that the
user holds there at that moment. The database keeps the hash alone; the token is shown once."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import ColumnElement, select, update

from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Conflict, Forbidden, Invalid, Problem, Unauthenticated
from app.domain.shared.records import existing
from app.domain.shared.text import line_problems, one_line
from app.domain.sites import activity
from app.domain.sites.accounts import Role, roles_among, roles_of
from app.domain.sites.models import PersonalToken, RoleGrant, User
from app.extensions import db

PREFIX = "shop_pat_"  # By which people, scanners of leaked secrets and the log's redaction recognise one.
SHOWN_CHARACTERS = len(PREFIX) + 4
LONGEST_NAME = 60
LIFETIMES = (30, 90, 365)  # Days that the page offers.
LONGEST_LIFETIME = 365
DEFAULT_LIFETIME = 90
MOST_ACTIVE = 20  # Of a user on a site.
NOTED_EVERY = timedelta(hours=1)  # A busy agent costs one write an hour.
UNKNOWN = "This is no access token of this shop."


class TokenStatus(StrEnum):
    ACTIVE = "ACTIVE"
    EXPIRED = "EXPIRED"
    REVOKED = "REVOKED"
    PASSWORD_CHANGED = "PASSWORD_CHANGED"


@dataclass(frozen=True, slots=True)
class TokenFacts:
    """The facts that decide whether a token is valid."""

    expires_at: datetime
    revoked_at: datetime | None
    session_version: int


@dataclass(frozen=True, slots=True)
class ListedToken:
    """A token as pages show it: `beginning` is all of the token that is ever shown again, `last_used_at` is accurate to
    the hour."""

    id: int
    name: str
    beginning: str
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None
    status: TokenStatus

    @property
    def is_active(self) -> bool:
        return self.status is TokenStatus.ACTIVE


@dataclass(frozen=True, slots=True)
class IssuedToken:
    """A new token; `text` is kept nowhere."""

    text: str
    listed: ListedToken


@dataclass(frozen=True, slots=True)
class TokenCaller:
    """The user and site for which a token acts. Roles are read at each look-up. `is_stale`: its use is to be noted."""

    token_id: int
    token_name: str
    user_id: int
    email: str
    display_name: str
    site_id: int
    roles: frozenset[Role]
    expires_at: datetime
    is_stale: bool


REFUSALS = {
    TokenStatus.REVOKED: ("token_revoked", "This access token was revoked. Make another under Access tokens."),
    TokenStatus.EXPIRED: ("token_expired", "This access token has expired. Make another under Access tokens."),
    TokenStatus.PASSWORD_CHANGED: (
        "token_revoked",
        "This access token ended when its user’s password was changed. Make another under Access tokens.",
    ),
}


def status_of(facts: TokenFacts, users_version: int, now: datetime) -> TokenStatus:
    """Return the status of a token. `users_version` is the user's session version now: a new password ends tokens as it
    ends sessions."""
    if facts.revoked_at is not None:
        return TokenStatus.REVOKED
    if facts.session_version != users_version:
        return TokenStatus.PASSWORD_CHANGED
    return TokenStatus.EXPIRED if now >= facts.expires_at else TokenStatus.ACTIVE


def new_token() -> str:
    """Return a new token: 192 random bits, in characters that a double click selects as one word."""
    return PREFIX + secrets.token_hex(24)


def is_personal(token: str) -> bool:
    return token.startswith(PREFIX)


def hash_of(token: str) -> str:
    """Return the hash of a token. For so many random bits a plain hash is as safe as a slow one, and the look-up can
    use an index."""
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


def token_problems(name: str, days: int | None) -> list[Problem]:
    problems = line_problems(name, "The name", LONGEST_NAME, "#/name", required=True)
    if days is None or not 1 <= days <= LONGEST_LIFETIME:
        problems.append(Problem("invalid_lifetime", f"A token holds for 1 to {LONGEST_LIFETIME} days.", "#/days"))
    return problems


def make_token(author: Author, user_id: int, name: str, days: int | None) -> IssuedToken:
    """Make a token of the user for the author's site, valid for so many days. Raises Invalid with every problem,
    Forbidden for a user who could do nothing with it, and Conflict where the user has too many."""
    user = _locked_user(user_id)
    if not user.enabled or not roles_of(user.id, author.site_id):
        raise Forbidden("Only users who can sign in and have a role in this shop can have access tokens.")
    name = one_line(name)
    active = [token for token in tokens_of(author.clock, author.site_id, user.id) if token.is_active]
    problems = [*token_problems(name, days), *_name_problems(name, active)]
    if problems or days is None:
        raise Invalid(problems)
    if len(active) >= MOST_ACTIVE:
        raise Conflict(f"There are {MOST_ACTIVE} access tokens already. Revoke one that is no longer used.")
    text = new_token()
    row = _new_row(author, user, name, text, days)
    db.session.add(row)
    db.session.flush()
    after = {"name": row.name, "expiresAt": row.expires_at.isoformat()}
    _note(author, user, "token.create", f"Made the access token “{row.name}” for {user.display_name}", after)
    return IssuedToken(text, _listed_token(row, user.session_version, author.now()))


def tokens_of(clock: Clock, site_id: int, user_id: int) -> list[ListedToken]:
    """Return the tokens of the user on the site, ended ones included; active ones first, then the newest."""
    rows = db.session.execute(
        select(PersonalToken, User.session_version)
        .join(User, User.id == PersonalToken.user_id)
        .where(PersonalToken.site_id == site_id, PersonalToken.user_id == user_id)
        .order_by(PersonalToken.created_at.desc(), PersonalToken.id.desc())
    )
    now = clock.now()
    return sorted((_listed_token(row, version, now) for row, version in rows), key=lambda token: not token.is_active)


def active_token(author: Author, user_id: int, name: str) -> ListedToken:
    """Return the user's active token of this name. Raises NotFound."""
    named = (token for token in tokens_of(author.clock, author.site_id, user_id) if token.name == name)
    return existing(next((token for token in named if token.is_active), None), f"There is no active token “{name}”.")


def revoke_token(author: Author, user_id: int, token_id: int) -> str:
    """Revoke a token of the user on the author's site, and return its name. Raises NotFound."""
    row = db.session.execute(
        select(PersonalToken, User)
        .join(User, User.id == PersonalToken.user_id)
        .where(PersonalToken.site_id == author.site_id, PersonalToken.user_id == user_id, PersonalToken.id == token_id)
    ).one_or_none()
    token, user = existing(row, "Access token not found.")
    if token.revoked_at is None:
        token.revoked_at = author.now()
        _note(author, user, "token.revoke", f"Revoked the access token “{token.name}” of {user.display_name}")
    name: str = token.name
    return name


def revoke_tokens_of(clock: Clock, user_id: int, site_id: int | None = None) -> None:
    """Revoke all tokens of a dismissed user: on the site, or everywhere."""
    which: list[ColumnElement[bool]] = [PersonalToken.user_id == user_id, PersonalToken.revoked_at.is_(None)]
    if site_id is not None:
        which.append(PersonalToken.site_id == site_id)
    db.session.execute(update(PersonalToken).where(*which).values(revoked_at=clock.now()))


def caller_of(clock: Clock, token: str) -> TokenCaller:
    """Return the user and site for which the token acts; one query, whether the token is known or not. Raises
    Unauthenticated for any other text, for a token that ended, and where its user is disabled or has no role on the
    site."""
    rows = db.session.execute(
        select(PersonalToken, User, RoleGrant.role, RoleGrant.site_id)
        .join(User, User.id == PersonalToken.user_id)
        .outerjoin(RoleGrant, RoleGrant.user_id == User.id)
        .where(PersonalToken.token_hash == hash_of(token))
        .execution_options(populate_existing=True)  # What another process changed counts at once.
    ).all()
    if not rows:
        raise Unauthenticated("token_invalid", UNKNOWN)
    found, user = rows[0][:2]
    roles = roles_among(((role, site_id) for *_, role, site_id in rows if role), found.site_id)
    status = status_of(_facts(found), user.session_version, clock.now())
    if status is not TokenStatus.ACTIVE:
        raise Unauthenticated(*REFUSALS[status])
    if not user.enabled or not roles:
        raise Unauthenticated("token_revoked", "The user of this access token may not work on this shop any more.")
    return _caller(clock, found, user, roles)


def note_use(clock: Clock, token_id: int) -> None:
    """Note that the token of a stale caller was used just now."""
    db.session.execute(update(PersonalToken).where(PersonalToken.id == token_id).values(last_used_at=clock.now()))


def _locked_user(user_id: int) -> User:
    """Return the user, locked, so that two tokens made at once are counted one after the other."""
    return db.session.scalars(select(User).where(User.id == user_id).with_for_update()).one()


def _name_problems(name: str, active: list[ListedToken]) -> list[Problem]:
    if name not in {token.name for token in active}:
        return []
    return [Problem("duplicate", f"There is an access token “{name}” already.", "#/name")]


def _new_row(author: Author, user: User, name: str, text: str, days: int) -> PersonalToken:
    now = author.now()
    return PersonalToken(
        site_id=author.site_id,
        user_id=user.id,
        name=name,
        token_hash=hash_of(text),
        beginning=text[:SHOWN_CHARACTERS],
        session_version=user.session_version,
        created_at=now,
        expires_at=now + timedelta(days=days),
    )


def _facts(row: PersonalToken) -> TokenFacts:
    return TokenFacts(row.expires_at, row.revoked_at, row.session_version)


def _listed_token(row: PersonalToken, users_version: int, now: datetime) -> ListedToken:
    status = status_of(_facts(row), users_version, now)
    return ListedToken(row.id, row.name, row.beginning, row.created_at, row.expires_at, row.last_used_at, status)


def _caller(clock: Clock, token: PersonalToken, user: User, roles: frozenset[Role]) -> TokenCaller:
    used_at = token.last_used_at
    return TokenCaller(
        token_id=token.id,
        token_name=token.name,
        user_id=user.id,
        email=user.email,
        display_name=user.display_name,
        site_id=token.site_id,
        roles=roles,
        expires_at=token.expires_at,
        is_stale=used_at is None or abs(clock.now() - used_at) >= NOTED_EVERY,
    )


def _note(author: Author, user: User, action: str, summary: str, after: object = None) -> None:
    activity.record(author, action, ("user", str(user.id)), summary, after=after)
