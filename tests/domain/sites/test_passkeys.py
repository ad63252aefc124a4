"""How long passkeys are kept, and what removes them."""

from __future__ import annotations

import pytest
from sqlalchemy import func, select

from app.domain.shared.author import Author
from app.domain.shared.problems import NotFound
from app.domain.sites import accounts, api_sessions, devices, passkeys
from app.domain.sites.accounts import Role
from app.domain.sites.api_sessions import Audience, Device
from app.domain.sites.models import ApiSession, Site, User, UserPasskey
from app.domain.sites.purge import RETENTIONS
from app.domain.sites.sign_in_sessions import DEVICE_KNOWN_FOR
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_device, make_passkey, make_site, make_user
from tests.fakes.clock import StoppedClock
from tests.purging import purged

pytestmark = pytest.mark.usefixtures("context")
RETENTION = next(one for one in RETENTIONS if one.model is UserPasskey)


@pytest.fixture
def shop() -> tuple[Site, User]:
    with transaction():
        site = make_site()
        return site, make_user(site, Role.POS_AGENT)


def count() -> int:
    return db.session.scalar(select(func.count()).select_from(UserPasskey)) or 0


def test_an_unused_passkey_is_forgotten(shop: tuple[Site, User], clock: StoppedClock) -> None:
    with transaction():
        make_passkey(*shop, last_used_at=clock.now())
    clock.move(days=DEVICE_KNOWN_FOR.days)
    purged(clock, RETENTION)
    assert count() == 1
    clock.move(days=2)
    purged(clock, RETENTION)
    assert count() == 0


def test_a_removed_passkey_ends_the_sessions_that_are_bound_to_it_alone(
    shop: tuple[Site, User], clock: StoppedClock
) -> None:
    site, user = shop
    with transaction():
        passkey = make_passkey(site, user)
        ids = [
            api_sessions.open_session(clock, user, site.id, Audience.POS, Device()).caller.session_id for _ in range(2)
        ]
        db.session.get_one(ApiSession, ids[0]).passkey_id = passkey.id
    with transaction():
        passkeys.remove_passkey(Author(site.id, "Tilly", clock), user.id, passkey.id)
    assert [db.session.get_one(ApiSession, id_).ended_because for id_ in ids] == ["REVOKED", None]


def test_a_passkey_of_another_shop_or_user_is_not_found(shop: tuple[Site, User], clock: StoppedClock) -> None:
    with transaction():
        passkey, other = make_passkey(*shop), make_site("other.localhost", "Other")
        colleague = make_user(shop[0], Role.POS_AGENT)
    for site, user in ((other, shop[1]), (shop[0], colleague)):
        with pytest.raises(NotFound), transaction():
            passkeys.remove_passkey(Author(site.id, "Oz", clock), user.id, passkey.id)
        assert passkeys.passkeys_of(site.id, user.id) == []
    assert count() == 1


def test_the_passkeys_of_a_removed_device_go_with_it(shop: tuple[Site, User], clock: StoppedClock) -> None:
    with transaction():
        device = make_device(*shop, device_id="phone")
        make_passkey(*shop, device_id="phone")
        kept = [make_passkey(*shop, device_id="tablet").id, make_passkey(*shop).id]
        kept.append(make_passkey(shop[0], make_user(shop[0]), device_id="phone").id)
    with transaction():
        devices.remove_device(Author(shop[0].id, "Mia", clock), shop[1].id, device.id)
    assert set(db.session.scalars(select(UserPasskey.id))) == set(kept)


def test_another_password_and_the_end_of_all_sessions_remove_passkeys_of_the_user_alone(
    shop: tuple[Site, User], clock: StoppedClock
) -> None:
    site, user = shop
    with transaction():
        make_passkey(site, make_user(site))
        make_passkey(site, user)
    with transaction():
        accounts.set_password(8, user, "eight green kettles")
    assert count() == 1
    with transaction():
        make_passkey(site, user)
        api_sessions.end_of_user(clock, user.id)
    assert count() == 1
