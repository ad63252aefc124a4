"""The callers of the API: users by their bearer tokens, of a session or personal ones, and users at tills. Sessions of
browsers and their cookies count for nothing here. Tills are checked in the order of docs/payments.md before anything of
the body is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

from flask import g, request

from app import ports
from app.blueprints.callers import request_host
from app.domain.alerts.alerts import raise_alert
from app.domain.alerts.causes import Cause
from app.domain.pos import access, sessions
from app.domain.pos.access import ADMINS, BasketUser
from app.domain.pos.models import PosAgent, PosLocation
from app.domain.pos.over_limit import AmountExceedsLimit
from app.domain.pos.payments.cashier import Cashier
from app.domain.pos.processor import Misconfigured
from app.domain.shared.author import Author, Origin
from app.domain.shared.problems import Forbidden, Unauthenticated
from app.domain.sites import api_sessions
from app.domain.sites.api_sessions import ApiCaller, Audience, TillRoleRequired
from app.domain.sites.personal_tokens import TokenCaller, is_personal
from app.domain.sites.sites import site_by_host
from app.operations.work_context import work_context
from app.transaction import transaction
from app.web.callers import token_caller
from app.web.permissions import DECLARED, SIGNED_IN, Permission, View, allowed
from app.web.tokens import AccessClaims, not_ours, read_access_token

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


def requires_session(view: View) -> View:
    """Lets users in by their sessions, for a till or for the API, whatever their role: for what is their own. Answers
    401, and 403 for a personal access token."""

    @wraps(view)
    def checked(*args: Any, **kwargs: Any) -> Any:
        g.api_caller = _holder_of_session()
        return view(*args, **kwargs)

    setattr(checked, DECLARED, SIGNED_IN)
    return checked  # type: ignore[return-value]


def _holder_of_session() -> ApiCaller:
    """Return the holder of a session. Raises Unauthenticated, and Forbidden for a personal access token."""
    token = sent_token()
    if is_personal(token):
        _of_this_shop(token_caller(token))
        raise Forbidden("A personal access token has no session and no device. Sign in for that.", "personal_token")
    return session_caller()


def session_of_caller() -> ApiCaller:
    """Return the caller, within a view that requires a session."""
    found: ApiCaller = g.api_caller
    return found


def session_of_access_token() -> str | None:
    """Return the id of the session of the sent access token, where one was sent that still holds."""
    try:
        claims = sent_claims()
    except Unauthenticated:
        return None
    return None if claims.is_over(ports.clock().now()) else claims.session_id


def is_other_program(session_id: str) -> bool:
    """Whether the caller is another program than the one of the session at a till."""
    return sessions.is_other_program(session_id, request.user_agent.string)


def current_session_id() -> str:
    """Return the id of the caller's session, within a view that requires one."""
    return session_of_caller().session_id


def caller() -> Caller:
    """Return the caller, within a view that requires a token or a session."""
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
    session = session_caller()
    if session.audience is not Audience.API:
        raise Forbidden(NOT_ALLOWED)
    return session


def _of_this_shop(holder: TokenCaller) -> TokenCaller:
    site = site_by_host(request_host())
    if site is None or site.id != holder.site_id:
        raise Unauthenticated("token_invalid", api_sessions.NO_TOKEN)
    return holder


def sent_claims() -> AccessClaims:
    """Return the claims of the sent token. Raises Unauthenticated without one, and for one that the shop did not
    issue."""
    return read_access_token(sent_token())


def sent_token() -> str:
    """Return the bearer token. Raises Unauthenticated where none was sent."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        raise not_ours()
    return token.strip()


def session_caller() -> ApiCaller:
    """Return the holder of the sent token, whether it is for a till or for the API. Raises Unauthenticated."""
    claims = sent_claims()
    if claims.is_over(ports.clock().now()):
        raise Unauthenticated("token_expired", "This token is over. Get another with the refresh token.")
    return api_sessions.find_caller(ports.clock(), claims.session_id, claims.user_id, request_host(), claims.roles)


@dataclass(frozen=True, slots=True)
class Till:
    """The caller at a till. `agent` None is an admin without one, `location` None where the address names none.
    `session_id` is that of the work session, where there is one."""

    caller: ApiCaller
    agent: PosAgent | None
    location: PosLocation | None
    session_id: str | None

    @property
    def is_admin(self) -> bool:
        return bool(ADMINS & self.caller.roles)

    @property
    def author(self) -> Author:
        """The caller as the author of a change."""
        return Author(self.caller.site_id, self.caller.display_name, ports.clock(), Origin.API)


def requires_till(settles: bool = False, as_agent: bool = False) -> Callable[[View], View]:
    """Lets agents and admins in, with a token for a till or one for the API. `settles`: also while the shop takes no
    payments at tills, so that those under way can be settled and looked at. `as_agent`: admins need to be agents, too.

    Where the address holds `location_id`, the location is looked up, and the view is not given the id. Stands above the
    decorators that read the body. Answers 401, 403 or 404.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def checked(*args: Any, **kwargs: Any) -> Any:
            g.till = admit_to_till(session_caller(), kwargs.pop("location_id", None), settles, as_agent)
            try:
                return view(*args, **kwargs)
            except Misconfigured as refusal:
                _alert_owner(refusal)
                raise
            except AmountExceedsLimit as refusal:
                raise _note_over_limit(refusal) from None

        setattr(checked, DECLARED, Permission.USE_POS.value)
        return checked  # type: ignore[return-value]

    return decorate


def _alert_owner(refusal: Misconfigured) -> None:
    """Alert the owner that the payment processor is set up wrongly, which no agent can remedy."""
    with transaction():
        raise_alert(ports.clock(), Cause.PROCESSOR_MISCONFIGURED, refusal.message, till().caller.site_id)


def till() -> Till:
    """Return the caller at the till, within a view that requires a till."""
    found: Till = g.till
    return found


def work_at(location_id: str) -> PosLocation:
    """Set the till's location to the one that the body names, in a view whose address names none, and return it. Raises
    NotFound and Forbidden."""
    caller = till().caller
    standing = access.read_standing(caller.site_id, caller.user_id, caller.session_id, location_id)
    location = access.check_location(standing, caller.roles, settles=False)
    g.till = replace(till(), location=location)
    return location


def basket_user() -> BasketUser:
    """Return the caller as the user of a basket."""
    return BasketUser(till().caller.user_id, till().caller.roles, till().agent)


def cashier() -> Cashier:
    """Return the caller as the cashier of a payment, within a view for which a location is set."""
    at = till()
    assert at.location is not None, "the address names a location"
    agent_id = at.agent.id if at.agent else None
    return Cashier(at.author, at.caller.user_id, agent_id, at.location.id, at.session_id, at.is_admin)


def admit_to_till(caller: ApiCaller, location_id: str | None, settles: bool = False, as_agent: bool = False) -> Till:
    """Return the till of a caller whose token is valid, and note that the work session is used. Raises Forbidden and
    NotFound."""
    g.api_caller = caller
    if not allowed(caller.roles, Permission.USE_POS):
        raise TillRoleRequired
    standing = access.read_standing(caller.site_id, caller.user_id, caller.session_id, location_id)
    access.check_agent(standing.agent, caller.roles, as_agent)
    if not settles:
        access.check_open(standing.is_pos_enabled)
    location = None if location_id is None else access.check_location(standing, caller.roles, settles)
    if standing.session is not None:
        session_id, place = standing.session.id, None if location is None else location.id
        only_reads = request.method in ("GET", "HEAD")
        if sessions.is_use_to_note(ports.clock(), standing.session, location, only_reads):
            work_context().commit(lambda: sessions.note_use(ports.clock(), session_id, place, only_reads))
    return Till(caller, standing.agent, location, None if standing.session is None else standing.session.id)


def _note_over_limit(refusal: AmountExceedsLimit) -> AmountExceedsLimit:
    """Note an amount above the limit, which may end the session; return the refusal, with a warning where it is due."""
    with transaction():
        tries = sessions.note_over_limit(ports.clock(), till().caller.session_id, refusal.refused)
    return refusal.with_warning(tries)
