"""Two people take the same name at the same moment: the second is told, and nothing breaks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import event, func, insert, select

from app.domain.shared.problems import Conflict
from app.domain.sites import accounts, sites, throttle
from app.domain.sites.accounts import Role
from app.domain.sites.models import Domain, RoleGrant, Site, User
from app.extensions import db
from app.transaction import transaction
from tests.factories import PASSWORD, WHEN, make_site, make_user
from tests.fakes.clock import StoppedClock

pytestmark = pytest.mark.concurrent

Overtaken = Callable[..., None]


@pytest.fixture
def overtaken(context: None) -> Overtaken:
    """Another user commits a row between our look and our write."""
    if db.engine.dialect.name == "sqlite":
        pytest.skip("On SQLite one writer waits for the other before it looks.")

    def arrange(kind: type[Any], **fields: object) -> None:
        def commit_first(*_: object) -> None:
            with db.engine.begin() as other:
                other.execute(insert(kind).values(**fields))

        event.listen(db.session, "before_flush", commit_first, once=True)

    return arrange


def test_the_same_address(clock: StoppedClock, overtaken: Overtaken) -> None:
    overtaken(User, email="mia@shop.test", display_name="Other", created_at=WHEN)
    with pytest.raises(Conflict, match="same moment"), transaction():
        accounts.create_user(clock, 8, "mia@shop.test", "Mia", PASSWORD)


def test_the_same_role(overtaken: Overtaken) -> None:
    with transaction():
        site = make_site()
        user = make_user(site)
    user_id, site_id = user.id, site.id
    overtaken(RoleGrant, user_id=user_id, site_id=site_id, role=Role.ADMIN.value)
    with pytest.raises(Conflict, match="same moment"), transaction():
        accounts.grant(user, site_id, Role.ADMIN)


def test_the_same_host(clock: StoppedClock, overtaken: Overtaken) -> None:
    with transaction():
        site_id = make_site().id
    overtaken(Domain, site_id=site_id, host="new.localhost", primary=False)
    with pytest.raises(Conflict, match="same moment"), transaction():
        sites.create_site(clock, "new.localhost", "New")
    overtaken(Domain, site_id=site_id, host="further.localhost", primary=False)
    with pytest.raises(Conflict, match="same moment"), transaction():
        sites.add_domain(db.session.get_one(Site, site_id), "further.localhost")


def test_tries_of_one_account_are_counted_one_after_the_other(context: None, clock: StoppedClock) -> None:
    if db.engine.dialect.name == "sqlite":
        pytest.skip("SQLite has one writer at a time.")
    key = func.hashtextextended(throttle.account_key("mia@shop.test"), 0)

    def is_free() -> bool:
        with db.engine.begin() as other:
            return bool(other.scalar(select(func.pg_try_advisory_xact_lock(key))))

    with transaction():
        throttle.note_attempt(clock, "mia@shop.test", "203.0.113.9")
        assert not is_free()
    assert is_free()
