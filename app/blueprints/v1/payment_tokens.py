"""Payment tokens: JSON Web Tokens that let a till's card reader take payments for five minutes. They name the session,
the agent and the location; the API takes none of them, and the reader takes no others."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from app.domain.sites.api_sessions import ApiCaller
from app.tokens.signed_tokens import TokenKind

LIFETIME = timedelta(minutes=5)
TYPE = "pos-pay+jwt"
PAYMENT = TokenKind(TYPE, "pos-reader", "payment-tokens", ("sid", "agent", "location"))


@dataclass(frozen=True, slots=True)
class PaymentClaims:
    """The claims of a payment token. `agent_id` is None for an admin who is no agent; `location_id` is the one by which
    clients name the location."""

    user_id: int
    session_id: str
    agent_id: int | None
    location_id: str
    expires_at: int

    def is_over(self, now: datetime) -> bool:
        return now.timestamp() >= self.expires_at


def expiry(caller: ApiCaller, now: datetime) -> datetime:
    return min(now + LIFETIME, caller.expires_at)


def issue(caller: ApiCaller, agent_id: int | None, location_id: str, now: datetime) -> str:
    agent = "" if agent_id is None else str(agent_id)
    claims = {"sid": caller.session_id, "agent": agent, "location": location_id}
    return PAYMENT.issue(str(caller.user_id), claims, now, expiry(caller, now))


def read(token: str) -> PaymentClaims:
    """Return the claims of a payment token that the shop issued, even of an expired one. Raises Unauthenticated for any
    other text."""
    claims = PAYMENT.read(token)
    agent_id = int(claims["agent"]) if claims["agent"] else None
    return PaymentClaims(int(claims["sub"]), claims["sid"], agent_id, claims["location"], claims["exp"])
