"""Form, lifetime and validity of a personal access token. Pure."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from app.domain.shared.problems import Problem
from app.domain.shared.text import line_problems

PREFIX = "shop_pat_"  # By which people, scanners of leaked secrets and the log's redaction recognise one.
SHOWN_CHARACTERS = len(PREFIX) + 4
LONGEST_NAME = 60
LIFETIMES = (30, 90, 365)  # Days that the page offers.
LONGEST_LIFETIME = 365
DEFAULT_LIFETIME = 90
MOST_ACTIVE = 20  # Of a user on a site.


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
