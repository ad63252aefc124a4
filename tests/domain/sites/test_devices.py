"""The list of a user's devices, and how long it knows them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import func, select

from app.domain.shared.author import Author
from app.domain.shared.problems import NotFound
from app.domain.sites import devices
from app.domain.sites.models import Site, User, UserDevice
from app.domain.sites.purge import RETENTIONS
from app.domain.sites.sign_in_sessions import DEVICE_KNOWN_FOR, device_with_user, listed_device
from app.extensions import db
from app.transaction import transaction
from app.web.tokens import DEVICE, Signer
from tests.factories import WHEN, make_device, make_site, make_user
from tests.fakes.clock import StoppedClock
from tests.purging import purged

pytestmark = pytest.mark.usefixtures("context")
RETENTION = next(one for one in RETENTIONS if one.model is UserDevice)


@pytest.fixture
def shop() -> tuple[Site, User]:
    with transaction():
        site = make_site()
        return site, make_user(site)


def test_the_latest_hundred_are_listed(shop: tuple[Site, User]) -> None:
    with transaction():
        for number in range(101):
            make_device(*shop, name=str(number), last_seen_at=WHEN + timedelta(minutes=number))
    names = [device.name for device in devices.devices_of(shop[0].id, shop[1].id)]
    assert names == [str(number) for number in range(100, 0, -1)]


def test_a_device_of_another_shop_is_not_found(shop: tuple[Site, User], clock: StoppedClock) -> None:
    with transaction():
        device, other = make_device(*shop), make_site("other.localhost", "Other")
    with pytest.raises(NotFound), transaction():
        devices.remove_device(Author(other.id, "Oz", clock), shop[1].id, device.id)
    assert devices.devices_of(other.id, shop[1].id) == []
    assert len(devices.devices_of(shop[0].id, shop[1].id)) == 1


def test_a_device_is_forgotten_when_its_token_is_over(shop: tuple[Site, User], clock: StoppedClock) -> None:
    with transaction():
        make_device(*shop, last_seen_at=clock.now())
    clock.move(days=DEVICE_KNOWN_FOR.days)
    purged(clock, RETENTION)
    assert db.session.scalar(select(func.count()).select_from(UserDevice)) == 1
    clock.move(days=2)
    purged(clock, RETENTION)
    assert db.session.scalar(select(func.count()).select_from(UserDevice)) == 0


def test_a_known_device_that_is_not_listed_was_not_removed(shop: tuple[Site, User]) -> None:
    with transaction():
        device = make_device(*shop)
    user = shop[1]
    (listed, *_), (unlisted, *_) = device_with_user([], user, WHEN, device.id), device_with_user([], user, WHEN)
    assert (listed_device(listed.id), listed_device(unlisted.id)) == (device.id, "")
    assert [devices.was_removed(user.id, known.id) for known in (listed, unlisted)] == [False, False]
    assert devices.was_removed(user.id + 1, listed.id), "the list of another user"
    db.session.delete(device)
    db.session.flush()
    assert [devices.was_removed(user.id, known.id) for known in (listed, unlisted)] == [True, False]


def test_the_token_of_a_device_that_twenty_share_fits(clock: StoppedClock) -> None:
    known = []
    for number in range(20):
        known = device_with_user(known, User(id=10**6 + number, session_version=12), WHEN, f"{number:x>16}")
    assert len(known) == 20
    assert len(Signer(b"k" * 32).sign(DEVICE, known, WHEN)) <= DEVICE.longest
