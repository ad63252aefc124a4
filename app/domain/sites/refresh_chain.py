"""Refresh tokens: each is made from the one before it, so that a spent one differs from a forged one.

A token is `<session id>.<43 characters>`. The first secret is random; every next one is the HMAC of the token before
it, which only the holder of the key can make. The key never leaves the server, so a stolen token reveals nothing about
its successors, while the server finds out how old a token is by going on from it to the current one. Nothing but the
hash of the current token is kept.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets

TOKEN = re.compile(r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.[A-Za-z0-9_-]{43}", re.ASCII)
SHORTEST_KEY = 32  # Bytes.


def first_token(session_id: str) -> str:
    return f"{session_id}.{secrets.token_urlsafe(32)}"


def session_of(token: str) -> str | None:
    """Return the id of the session that a token names; None for a text that does not have the form of a token."""
    found = TOKEN.fullmatch(token)
    return found[1] if found else None


def successor(key: bytes, token: str) -> str:
    """Return the successor of a token, always the same for the same key and token. Raises ValueError for a key under 32
    bytes."""
    if len(key) < SHORTEST_KEY:
        raise ValueError(f"The key for refresh tokens must have at least {SHORTEST_KEY} bytes.")
    digest = hmac.digest(key, token.encode(), "sha256")
    return f"{token.partition('.')[0]}.{base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}"


def hash_of(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def age(key: bytes, token: str, current_hash: str, oldest: int) -> int | None:
    """Return the number of tokens that were issued after this one: 0 for the current, None for one that never belonged
    to the chain or is older than `oldest`."""
    for steps in range(oldest + 1):
        if hmac.compare_digest(hash_of(token), current_hash):
            return steps
        token = successor(key, token)
    return None
