"""A shop with people and two locations, where nobody is an agent yet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from app.domain.pos import sessions
from app.domain.pos.models import PosAgent, PosSession
from app.domain.shared.author import Author
from app.domain.sites import accounts, api_sessions
from app.domain.sites.accounts import Role
from app.domain.sites.api_sessions import Audience, Device
from app.domain.sites.models import User
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_location, make_site, make_user
from tests.fakes.clock import StoppedClock


@dataclass
class Staff:
    """`author` is an admin; the ids are of users. The locations are `tml_fair` and `tml_shop`."""

    author: Author
    merchandiser: int
    tilly: int

    @property
    def site_id(self) -> int:
        return self.author.site_id

    def merchandiser_as_agent(self) -> int:
        with transaction():
            accounts.grant(db.session.get(User, self.merchandiser), self.site_id, Role.POS_AGENT)
        return self.merchandiser


@pytest.fixture
def staff(context: None, clock: StoppedClock) -> Staff:
    with transaction():
        site = make_site()
        make_location(site, "tml_fair", display_name="Fair")
        make_location(site, "tml_shop", display_name="Shop")
        merchandiser, tilly = make_user(site, Role.MERCHANDISER), make_user(site, Role.POS_AGENT, name="Tilly Till")
        return Staff(Author(site.id, "Ada Admin", clock), merchandiser.id, tilly.id)


SignIn = Callable[[int], PosSession]


@pytest.fixture
def sign_in(staff: Staff) -> SignIn:
    """A user signs in at a till."""

    def signed_in(user_id: int) -> PosSession:
        clock = staff.author.clock
        with transaction():
            user = db.session.get(User, user_id)
            assert user is not None
            device = Device("till-7", "The till")
            granted = api_sessions.open_session(clock, user, staff.site_id, Audience.POS, device)
            sessions.open_session(clock, granted.caller, device, "TillApp/1", "192.0.2.1")
        return stored(granted.caller.session_id)

    return signed_in


def stored(session_id: str) -> PosSession:
    db.session.rollback()
    found = db.session.get(PosSession, session_id)
    assert found is not None
    return found


def agent_of(user_id: int) -> PosAgent:
    db.session.rollback()
    return db.session.query(PosAgent).filter_by(user_id=user_id).one()
