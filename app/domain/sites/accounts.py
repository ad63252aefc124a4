"""Users, their passwords, and their roles on sites."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import delete, exists, select

from app.domain.shared.clock import Clock
from app.domain.shared.problems import Conflict, Invalid, Problem
from app.domain.shared.records import existing, flush_or_conflict
from app.domain.shared.text import line_problems
from app.domain.sites.models import Domain, RoleGrant, SignInPasskey, Site, User, UserPasskey
from app.events import publish
from app.extensions import db

EMAIL = re.compile(r"[^\s@<>\"'(),:;\\]{1,64}@[^\s@<>\"'(),:;\\]{1,189}")
WRONG = "The email address or the password is not right."
SHORTEST_PASSWORD = 12
LONGEST_PASSWORD = 200
DEMO_PASSWORD = "demo-password-1"


class Role(StrEnum):
    MERCHANDISER = "MERCHANDISER"
    ADMIN = "ADMIN"
    SUPERADMIN = "SUPERADMIN"
    POS_AGENT = "POS_AGENT"


@dataclass(frozen=True, slots=True)
class ReachableSite:
    id: int
    name: str
    host: str


@dataclass(frozen=True, slots=True)
class SessionsEnded:
    """Sessions of a user ended, or became invalid by a new password."""

    user_id: int


def normal_email(email: str) -> str:
    return email.strip().casefold()


def user_problems(email: str, display_name: str) -> list[Problem]:
    problems = line_problems(display_name, "The name", 100, "#/displayName", required=True)
    if not EMAIL.fullmatch(email):
        problems.append(Problem("invalid_email", f"“{email[:60]}” is not an email address.", "#/email"))
    return problems


def password_problems(password: str, pointer: str = "#/password") -> list[Problem]:
    if len(password) < SHORTEST_PASSWORD:
        return [Problem("too_short", f"A password needs at least {SHORTEST_PASSWORD} characters.", pointer)]
    if len(password) > LONGEST_PASSWORD:
        return [Problem("too_long", f"A password has at most {LONGEST_PASSWORD} characters.", pointer)]
    if len(set(password)) < 4:
        return [Problem("too_simple", "This password repeats too few characters.", pointer)]
    return []


@lru_cache(maxsize=4)
def hasher(memory_kib: int) -> PasswordHasher:
    """Return an argon2id hasher with OWASP's parameters at the default memory of 19 MiB: two passes, one lane."""
    return PasswordHasher(time_cost=2, memory_cost=memory_kib, parallelism=1)


@lru_cache(maxsize=4)
def _nobodys_hash(memory_kib: int) -> str:
    return hasher(memory_kib).hash("nobody's password")


def matches_password(memory_kib: int, stored: str | None, password: str) -> bool:
    """Whether a password has the stored hash. It takes equally long without a hash, so that the time reveals
    nothing."""
    try:
        hasher(memory_kib).verify(stored or _nobodys_hash(memory_kib), password)
    except (VerificationError, InvalidHashError):
        return False
    return stored is not None


def create_user(clock: Clock, memory_kib: int, email: str, display_name: str, password: str | None = None) -> User:
    """Create a user, who without a password cannot sign in until one is set. `memory_kib` is the memory of the hash.
    Raises Invalid, and Conflict where the address is taken."""
    email = normal_email(email)
    problems = user_problems(email, display_name)
    if password is not None:
        problems += password_problems(password)
    if problems:
        raise Invalid(problems)
    if find_user(email) is not None:
        raise Conflict(f"There is a user {email} already.")
    hashed = None if password is None else hasher(memory_kib).hash(password)
    user = User(email=email, display_name=display_name.strip(), password_hash=hashed, created_at=clock.now())
    db.session.add(user)
    flush_or_conflict("Another user added this email address at the same moment. Nothing was saved.")
    return user


def find_user(email: str) -> User | None:
    return db.session.scalar(select(User).where(User.email == normal_email(email)))


def get_user(email: str) -> User:
    """Return the user of an address. Raises NotFound."""
    return existing(find_user(email), f"There is no user {email}.")


def set_password(memory_kib: int, user: User, password: str) -> None:
    """Set a password, which ends all the user's sessions and removes all passkeys, those that unlocked them and those
    to sign in with. Raises Invalid."""
    if problems := password_problems(password):
        raise Invalid(problems)
    user.password_hash = hasher(memory_kib).hash(password)
    user.session_version += 1
    remove_passkeys_of(user.id)
    db.session.execute(delete(SignInPasskey).where(SignInPasskey.user_id == user.id))
    publish(SessionsEnded(user.id))


def remove_passkeys_of(user_id: int) -> None:
    """Remove all passkeys of a user, on every site, whose sessions end in the same transaction."""
    removed = delete(UserPasskey).where(UserPasskey.user_id == user_id)
    db.session.execute(removed.execution_options(synchronize_session=False))


def grant(user: User, site_id: int, role: Role) -> bool:
    """Grant a role; False when the user holds it on the site already. Raises Conflict when it was given at the same
    moment."""
    wanted = (RoleGrant.user_id == user.id, RoleGrant.site_id == site_id, RoleGrant.role == role.value)
    if db.session.scalar(select(exists().where(*wanted))):
        return False
    db.session.add(RoleGrant(user_id=user.id, site_id=site_id, role=role.value))
    flush_or_conflict("Another user gave this user the same role at the same moment. Nothing was saved.")
    return True


def roles_of(user_id: int, site_id: int) -> frozenset[Role]:
    """Return the user's roles on the site; SUPERADMIN anywhere is SUPERADMIN here."""
    rows = db.session.execute(select(RoleGrant.role, RoleGrant.site_id).where(RoleGrant.user_id == user_id))
    return roles_among(rows, site_id)


def roles_among(grants: Iterable[tuple[str, int]], site_id: int) -> frozenset[Role]:
    """Return the roles among (role, site) that count on the site."""
    return frozenset(Role(role) for role, site in grants if site == site_id or role == Role.SUPERADMIN)


def reachable_sites(user_id: int) -> tuple[ReachableSite, ...]:
    """Return every site for a superadmin, else those where the user holds a role; by name."""
    grants = select(RoleGrant.id).where(RoleGrant.user_id == user_id)
    everywhere = exists(grants.where(RoleGrant.role == Role.SUPERADMIN.value))
    here = exists(grants.where(RoleGrant.site_id == Site.id))
    rows = db.session.execute(
        select(Site.id, Site.name, Domain.host)
        .join(Domain, (Domain.site_id == Site.id) & Domain.primary, isouter=True)
        .where(everywhere | here)
        .order_by(Site.name, Site.id)
    )
    return tuple(ReachableSite(site_id, name, host or "") for site_id, name, host in rows)


def check_password(memory_kib: int, email: str, password: str, refused: Container[str] = ()) -> User:
    """Return the user with this address and password. Raises Invalid with the same words, after the same work, whether
    the user is unknown, disabled, without a password, mistyped it, or has one of the refused ones."""
    user = find_user(email)
    stored = user.password_hash if user else None
    right = matches_password(memory_kib, stored, password)
    if user is None or not right or not user.enabled or password in refused:
        raise Invalid.one("wrong_credentials", WRONG)
    return user
