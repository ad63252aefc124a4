"""The callers of the API: users by their bearer tokens, of a session or personal ones. Sessions of browsers and their
cookies count for nothing here."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from flask import g, request

from app import ports
from app.blueprints.callers import request_host
from app.domain.shared.author import Author, Origin
from app.domain.shared.problems import Forbidden, Unauthenticated
from app.domain.sites import api_sessions
from app.domain.sites.api_sessions import ApiCaller, Audience
from app.domain.sites.personal_token_rules import is_personal
from app.domain.sites.personal_tokens import TokenCaller
from app.domain.sites.sites import site_by_host
from app.permissions import DECLARED, Permission, View, allowed
from app.token_access import token_caller
from app.tokens import access_tokens
from app.tokens.access_tokens import Claims
from app.tokens.signed_tokens import not_ours

Caller = ApiCaller | TokenCaller
NOT_ALLOWED = "Your role on this site does not allow this."


def requires_token(permission: Permission) -> Callable[[View], View]:
    """Declare and check the permission of a view: 401 without a valid token, 403 without the permission or with a
    till's token. Stands above the decorators that read the body, which is read only from permitted callers."""

    def decorate(view: View) -> View:
        @wraps(view)
        def checked(*args: Any, **kwargs: Any) -> Any:
            g.api_caller = _manager()
            if not allowed(g.api_caller.roles, permission):
                raise Forbidden(NOT_ALLOWED)
            return view(*args, **kwargs)

        setattr(checked, DECLARED, permission.value)
        return checked  # type: ignore[return-value]

    return decorate


def caller() -> Caller:
    """Return the caller, within a view that requires a token."""
    found: Caller = g.api_caller
    return found


def calling_author() -> Author:
    """Return the caller as the author of a change."""
    return Author(caller().site_id, caller().display_name, ports.clock(), Origin.API)


def _manager() -> Caller:
    """Return the caller who manages the shop by a session that was opened for that, or by a personal access token of
    the shop; neither takes payments. Raises Unauthenticated, and Forbidden for a till's session."""
    token = sent_token()
    if is_personal(token):
        return _of_this_shop(token_caller(token))
    session = identified()
    if session.audience is not Audience.API:
        raise Forbidden(NOT_ALLOWED)
    return session


def _of_this_shop(holder: TokenCaller) -> TokenCaller:
    site = site_by_host(request_host())
    if site is None or site.id != holder.site_id:
        raise Unauthenticated("token_invalid", api_sessions.NO_TOKEN)
    return holder


def sent_claims() -> Claims:
    """Return the claims of the sent token. Raises Unauthenticated without one, and for one that the shop did not
    issue."""
    return access_tokens.read(sent_token())


def sent_token() -> str:
    """Return the bearer token. Raises Unauthenticated where none was sent."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        raise not_ours()
    return token.strip()


def identified() -> ApiCaller:
    """Return the holder of the sent token, whether it is for a till or for the API. Raises Unauthenticated."""
    claims = sent_claims()
    if claims.is_over(ports.clock().now()):
        raise Unauthenticated("token_expired", "This token is over. Get another with the refresh token.")
    return api_sessions.find_caller(ports.clock(), claims.session_id, claims.user_id, request_host(), claims.roles)
