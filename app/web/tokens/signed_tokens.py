"""JSON Web Tokens of the shop (RFC 8725). The one algorithm is HMAC with SHA-256, under a key that is derived from the
shop's secret for one kind of token alone; the kind is in the header and checked before anything of a token is parsed.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import jwt
from flask import current_app

from app.config import Config
from app.domain.shared.problems import Unauthenticated

ALGORITHM = "HS256"
ISSUER = "shop"
LONGEST_TOKEN = 2_048  # Ours have some 400 characters.
STANDARD_CLAIMS = ("iss", "aud", "sub", "jti", "iat", "exp")


def key_for(purpose: str) -> bytes:
    config: Config = current_app.config["SHOP"]
    return config.key_for(f"v1/{purpose}")


def not_ours() -> Unauthenticated:
    return Unauthenticated("token_invalid", "Send a token of this shop: Authorization: Bearer <token>.")


@dataclass(frozen=True, slots=True)
class TokenKind:
    """A kind of signed token. `typ` and `audience` are those of the token, `purpose` is what its key is derived for,
    `claims` are its own."""

    typ: str
    audience: str
    purpose: str
    claims: tuple[str, ...]

    def issue(self, subject: str, claims: Mapping[str, Any], now: datetime, expires_at: datetime) -> str:
        standard = {
            "iss": ISSUER,
            "aud": self.audience,
            "sub": subject,
            "jti": uuid.uuid4().hex,
            "iat": int(now.timestamp()),
            "exp": int(expires_at.timestamp()),
        }
        return jwt.encode(standard | dict(claims), self._key(), ALGORITHM, headers={"typ": self.typ})

    def read(self, token: str) -> dict[str, Any]:
        """Return the claims of a token of this kind, also when its time is over, which the caller compares with the
        shop's clock. Raises Unauthenticated for any other text."""
        if len(token) > LONGEST_TOKEN or token.partition(".")[0] != self._header():
            raise not_ours()
        required = [*STANDARD_CLAIMS, *self.claims]
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                self._key(),
                algorithms=[ALGORITHM],
                audience=self.audience,
                issuer=ISSUER,
                options={"require": required, "verify_exp": False, "verify_iat": False},
            )
        except jwt.InvalidTokenError:
            raise not_ours() from None
        return claims

    def _key(self) -> bytes:
        return key_for(self.purpose)

    def _header(self) -> str:
        """Return the header that every token of this kind begins with. It is compared before anything of a token is
        parsed, so that no token can name another algorithm, kind or key."""
        return jwt.encode({}, self._key(), ALGORITHM, headers={"typ": self.typ}).partition(".")[0]
