"""The callers of tools: each is the user of a bearer token, a personal one or that of a session, and acts on the
token's site. Token and user are read at each call."""

from __future__ import annotations

from dataclasses import dataclass

from app import ports
from app.domain.shared.author import Author, Origin
from app.domain.shared.problems import Forbidden, Unauthenticated
from app.domain.sites import api_sessions
from app.domain.sites.accounts import Role
from app.domain.sites.api_sessions import Audience
from app.domain.sites.personal_tokens import is_personal
from app.tokens import access_tokens
from app.web.callers import token_caller


@dataclass(frozen=True, slots=True)
class Caller:
    user_id: int
    display_name: str
    site_id: int
    roles: frozenset[Role]

    @property
    def author(self) -> Author:
        """The caller as the author of a change."""
        return Author(self.site_id, self.display_name, ports.clock(), Origin.MCP)


def caller_of(token: str) -> Caller:
    """The user and the site of a token that holds now. Raises Unauthenticated, and Forbidden for a till's token."""
    if is_personal(token):
        holder = token_caller(token)
        return Caller(holder.user_id, holder.display_name, holder.site_id, holder.roles)
    claims = access_tokens.read(token)
    if claims.is_over(ports.clock().now()):
        raise Unauthenticated("token_expired", "This token is over. Get another one.")
    found = api_sessions.find_caller(ports.clock(), claims.session_id, claims.user_id, None, claims.roles)
    if found.audience is not Audience.API:
        raise Forbidden("A till's token opens no tools.")
    return Caller(found.user_id, found.display_name, found.site_id, found.roles)
