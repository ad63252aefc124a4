"""Access tokens: JSON Web Tokens that name a session for a quarter of an hour (RFC 8725, RFC 9068).

They open nothing by themselves: every request looks the session up. The one algorithm is HMAC with SHA-256, under a
key that is derived from the shop's secret for this purpose alone.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

import jwt
from flask import current_app

from app.config import Config
from app.domain.shared.problems import Unauthenticated
from app.domain.sites.api_sessions import ApiCaller

LIFETIME = timedelta(minutes=15)
ALGORITHM = "HS256"
KIND = "at+jwt"
ISSUER = "shop"
AUDIENCE = "shop-api"
CLAIMS = ["iss", "aud", "sub", "sid", "roles", "ver", "jti", "iat", "exp"]
LONGEST_TOKEN = 2_048  # Ours have some 400 characters.


@dataclass(frozen=True, slots=True)
class Claims:
    """What a token says about itself; `roles` are those that the user held when it was issued."""

    user_id: int
    session_id: str
    roles: tuple[str, ...]
    expires_at: int

    def is_over(self, now: datetime) -> bool:
        return now.timestamp() >= self.expires_at


def key_for(purpose: str) -> bytes:
    config: Config = current_app.config["SHOP"]
    return config.key_for(f"v1/{purpose}")


def expiry(caller: ApiCaller, now: datetime) -> datetime:
    return min(now + LIFETIME, caller.expires_at)


def issue(caller: ApiCaller, now: datetime) -> str:
    claims = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": str(caller.user_id),
        "sid": caller.session_id,
        "roles": sorted(caller.roles),
        "ver": caller.session_version,
        "jti": uuid.uuid4().hex,
        "iat": int(now.timestamp()),
        "exp": int(expiry(caller, now).timestamp()),
    }
    return jwt.encode(claims, key_for("access-tokens"), ALGORITHM, headers={"typ": KIND})


def read(token: str) -> Claims:
    """What one of our tokens says, also when its time is over, which the caller compares with the shop's clock.
    Raises Unauthenticated for any other text."""
    if len(token) > LONGEST_TOKEN or token.partition(".")[0] != _header():
        raise not_ours()
    try:
        claims = jwt.decode(
            token,
            key_for("access-tokens"),
            algorithms=[ALGORITHM],
            audience=AUDIENCE,
            issuer=ISSUER,
            options={"require": CLAIMS, "verify_exp": False, "verify_iat": False},
        )
    except jwt.InvalidTokenError:
        raise not_ours() from None
    return Claims(int(claims["sub"]), claims["sid"], tuple(claims["roles"]), claims["exp"])


def not_ours() -> Unauthenticated:
    return Unauthenticated("token_invalid", "Send a token of this shop: Authorization: Bearer <token>.")


def _header() -> str:
    """Every token of ours begins alike, so algorithm and kind are settled before anything of a stranger's token is
    parsed, and a header can name no key of its own."""
    return jwt.encode({}, key_for("access-tokens"), ALGORITHM, headers={"typ": KIND}).partition(".")[0]
