"""Who calls the API: the holder of a bearer token. Sessions of browsers and their cookies count for nothing here."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from flask import g, request

from app import ports
from app.blueprints.hosts import request_host
from app.domain.shared.author import Author, Origin
from app.domain.shared.problems import Forbidden, Unauthenticated
from app.domain.sites import api_sessions
from app.domain.sites.api_sessions import ApiCaller, Audience
from app.permissions import DECLARED, Permission, View, allowed
from app.tokens import access_tokens
from app.tokens.access_tokens import Claims
from app.tokens.signed_tokens import not_ours


def requires_token(permission: Permission) -> Callable[[View], View]:
    """Answers 401 without a token that holds, and 403 without the permission or with a till's token. Stands above
    the decorators that read the body, which nobody but the right ones may send."""

    def decorate(view: View) -> View:
        @wraps(view)
        def checked(*args: Any, **kwargs: Any) -> Any:
            g.api_caller = identified()
            if g.api_caller.audience is not Audience.API or not allowed(g.api_caller.roles, permission):
                raise Forbidden("Your role on this site does not allow this.")
            return view(*args, **kwargs)

        setattr(checked, DECLARED, permission.value)
        return checked  # type: ignore[return-value]

    return decorate


def caller() -> ApiCaller:
    """Within a view that requires a token."""
    found: ApiCaller = g.api_caller
    return found


def calling_author() -> Author:
    """Return the caller as the author of a change."""
    return Author(caller().site_id, caller().display_name, ports.clock(), Origin.API)


def sent_claims() -> Claims:
    """What the sent token says about itself. Raises Unauthenticated for none, or one that is not ours."""
    return access_tokens.read(sent_token())


def sent_token() -> str:
    """Raises Unauthenticated where none was sent."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        raise not_ours()
    return token.strip()


def identified() -> ApiCaller:
    """The holder of the sent token, whatever it is for. Raises Unauthenticated."""
    claims = sent_claims()
    if claims.is_over(ports.clock().now()):
        raise Unauthenticated("token_expired", "This token is over. Get another with the refresh token.")
    return api_sessions.find_caller(ports.clock(), claims.session_id, claims.user_id, request_host(), claims.roles)
