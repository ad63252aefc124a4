"""How to sign in to the demo shop is printed only where its users exist."""

from __future__ import annotations

import json

import pytest

from app.demo.shop import BUNDLE, HOST, NAME, has_demo_users
from app.domain.sites import accounts
from app.domain.sites.accounts import Role
from app.domain.sites.models import Site, User
from app.domain.sites.sites import create_site
from app.extensions import db
from tests.fakes.clock import StoppedClock

pytestmark = pytest.mark.usefixtures("context")


def site(clock: StoppedClock, name: str = NAME) -> Site:
    made = create_site(clock, HOST, name)
    db.session.flush()
    return made


def add_users(clock: StoppedClock, at: Site) -> list[User]:
    users = []
    for person in json.loads((BUNDLE / "users.json").read_text()):
        users.append(accounts.create_user(clock, 8, person["email"], person["displayName"]))
        db.session.flush()
        accounts.grant(users[-1], at.id, Role(person["roles"][0]))
    db.session.flush()
    return users


def test_an_empty_database_has_none() -> None:
    assert not has_demo_users()


def test_the_demo_shop_has_them_until_one_is_disabled(clock: StoppedClock) -> None:
    users = add_users(clock, site(clock))
    assert has_demo_users()
    users[0].enabled = False
    db.session.flush()
    assert not has_demo_users()


@pytest.mark.parametrize("name", ["Imported shop", NAME])
def test_a_shop_without_them_has_none_whatever_its_name(clock: StoppedClock, name: str) -> None:
    site(clock, name)
    assert not has_demo_users()


def test_those_of_a_demo_shop_at_another_host_do_not_count(clock: StoppedClock) -> None:
    add_users(clock, create_site(clock, "demo.example", NAME))
    site(clock)
    assert not has_demo_users()
