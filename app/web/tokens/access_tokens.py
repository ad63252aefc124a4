"""Access tokens: JSON Web Tokens that name a session for a quarter of an hour (RFC 9068). They open nothing by
themselves: every request looks the session up."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from app.domain.sites.api_sessions import ApiCaller
from app.web.tokens.signed_tokens import TokenKind

LIFETIME = timedelta(minutes=15)
ACCESS = TokenKind("at+jwt", "shop-api", "access-tokens", ("sid", "roles", "ver"))


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims of a token; `roles` are those that the user held when it was issued."""

    user_id: int
    session_id: str
    roles: tuple[str, ...]
    expires_at: int

    def is_over(self, now: datetime) -> bool:
        return now.timestamp() >= self.expires_at


def expiry(caller: ApiCaller, now: datetime) -> datetime:
    return min(now + LIFETIME, caller.expires_at)


def issue(caller: ApiCaller, now: datetime) -> str:
    claims = {"sid": caller.session_id, "roles": sorted(caller.roles), "ver": caller.session_version}
    return ACCESS.issue(str(caller.user_id), claims, now, expiry(caller, now))


def read(token: str) -> Claims:
    """Return the claims of one of our tokens, also when its time is over. Raises Unauthenticated for any other text."""
    claims = ACCESS.read(token)
    return Claims(int(claims["sub"]), claims["sid"], tuple(claims["roles"]), claims["exp"])
