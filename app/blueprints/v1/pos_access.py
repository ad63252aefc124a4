"""The callers of a till's addresses, checked in the order of docs/payments.md before anything of the body is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

from flask import g

from app import ports
from app.blueprints.v1.bearer import identified
from app.domain.alerts.alerts import raise_alert
from app.domain.alerts.causes import Cause
from app.domain.pos import access, sessions
from app.domain.pos.access import ADMINS
from app.domain.pos.models import PosAgent, PosLocation, PosSession
from app.domain.pos.payments.cashier import Cashier
from app.domain.pos.processor import Misconfigured
from app.domain.shared.author import Author, Origin
from app.domain.shared.problems import Forbidden, Unprocessable
from app.domain.sites.api_sessions import ApiCaller
from app.permissions import DECLARED, Permission, View, allowed
from app.transaction import transaction
from app.work_context import work_context

OVER_LIMIT = "amount_exceeds_limit"


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
            g.till = admitted(identified(), kwargs.pop("location_id", None), settles, as_agent)
            try:
                return view(*args, **kwargs)
            except Misconfigured as refusal:
                _alert(refusal)
                raise
            except Unprocessable as refusal:
                if refusal.code == OVER_LIMIT:
                    _note_over_limit()
                raise

        setattr(checked, DECLARED, Permission.USE_POS.value)
        return checked  # type: ignore[return-value]

    return decorate


def _alert(refusal: Misconfigured) -> None:
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
    known = access.read_standing(caller.site_id, caller.user_id, caller.session_id, location_id)
    location = access.check_location(known, caller.roles, settles=False)
    g.till = replace(till(), location=location)
    return location


def cashier() -> Cashier:
    """Return the caller as the cashier of a payment, within a view for which a location is set."""
    at = till()
    assert at.location is not None, "the address names a location"
    agent_id = at.agent.id if at.agent else None
    return Cashier(at.author, at.caller.user_id, agent_id, at.location.id, at.session_id, at.is_admin)


def admitted(caller: ApiCaller, location_id: str | None, settles: bool = False, as_agent: bool = False) -> Till:
    """Return the till of a caller whose token is valid, and note that the work session is used. Raises Forbidden and
    NotFound."""
    g.api_caller = caller
    if not allowed(caller.roles, Permission.USE_POS):
        raise Forbidden("Your role on this site does not allow working at a till.", "pos_role_required")
    known = access.read_standing(caller.site_id, caller.user_id, caller.session_id, location_id)
    access.check_agent(known.agent, caller.roles, as_agent)
    if not settles:
        access.check_open(known.is_pos_enabled)
    location = None if location_id is None else access.check_location(known, caller.roles, settles)
    if known.session is not None:
        _see(known.session, location)
    return Till(caller, known.agent, location, None if known.session is None else known.session.id)


def _see(session: PosSession, location: PosLocation | None) -> None:
    if sessions.is_use_to_note(ports.clock(), session, location):
        session_id, place = session.id, None if location is None else location.id
        work_context().commit(lambda: sessions.note_use(ports.clock(), session_id, place))


def _note_over_limit() -> None:
    with transaction():
        sessions.note_over_limit(ports.clock(), till().caller.session_id)
