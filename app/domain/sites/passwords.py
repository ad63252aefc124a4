"""Passwords: what makes one acceptable, and their argon2id hashes."""

from __future__ import annotations

from functools import lru_cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from app.domain.shared.problems import Problem

SHORTEST = 12
LONGEST = 200
DEMO_PASSWORD = "demo-password-1"


@lru_cache(maxsize=4)
def hasher(memory_kib: int) -> PasswordHasher:
    """Return an argon2id hasher with OWASP's parameters at the default memory of 19 MiB: two passes, one lane."""
    return PasswordHasher(time_cost=2, memory_cost=memory_kib, parallelism=1)


@lru_cache(maxsize=4)
def _nobodys_hash(memory_kib: int) -> str:
    return hasher(memory_kib).hash("nobody's password")


def matches(memory_kib: int, stored: str | None, password: str) -> bool:
    """Whether a password has the stored hash. It takes equally long without a hash, so that the time reveals
    nothing."""
    try:
        hasher(memory_kib).verify(stored or _nobodys_hash(memory_kib), password)
    except (VerificationError, InvalidHashError):
        return False
    return stored is not None


def password_problems(password: str, pointer: str = "#/password") -> list[Problem]:
    if len(password) < SHORTEST:
        return [Problem("too_short", f"A password needs at least {SHORTEST} characters.", pointer)]
    if len(password) > LONGEST:
        return [Problem("too_long", f"A password has at most {LONGEST} characters.", pointer)]
    if len(set(password)) < 4:
        return [Problem("too_simple", "This password repeats too few characters.", pointer)]
    return []
