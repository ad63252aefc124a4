"""Who calls a till's addresses, checked in the order of docs/payments.md before anything of the body is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

from flask import g

from app import ports
from app.blueprints.v1.bearer import identified
from app.domain.pos import access
from app.domain.pos.access import ADMINS
from app.domain.pos.models import PosAgent, PosLocation
from app.domain.shared.author import Author
from app.domain.shared.problems import Forbidden
from app.domain.sites.api_sessions import ApiCaller
from app.permissions import DECLARED, Permission, View, allowed


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
        return Author(self.caller.site_id, self.caller.display_name, ports.clock())


def requires_till(settles: bool = False, as_agent: bool = False) -> Callable[[View], View]:
    """Lets agents and admins in, with a token for a till or one for the API. `settles`: also while the shop takes no
    payments at tills, so that those under way can be settled and looked at. `as_agent`: admins need to be agents, too.

    Where the address holds `location_id`, the location is looked up, and the view is not given the id. Stands above the
    decorators that read the body. Answers 401, 403 or 404.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def checked(*args: Any, **kwargs: Any) -> Any:
            g.till = _till(kwargs.pop("location_id", None), settles, as_agent)
            return view(*args, **kwargs)

        setattr(checked, DECLARED, Permission.USE_POS.value)
        return checked  # type: ignore[return-value]

    return decorate


def till() -> Till:
    """Within a view that requires a till."""
    found: Till = g.till
    return found


def _till(location_id: str | None, settles: bool, as_agent: bool) -> Till:
    caller = g.api_caller = identified()
    if not allowed(caller.roles, Permission.USE_POS):
        raise Forbidden("Your role on this site does not allow working at a till.", "pos_role_required")
    known = access.standing(caller.site_id, caller.user_id, caller.session_id, location_id)
    access.check_agent(known.agent, caller.roles, as_agent)
    if not settles:
        access.check_open(known.is_pos_enabled)
    location = None if location_id is None else access.check_location(known, caller.roles, settles)
    return Till(caller, known.agent, location, known.session_id)
