"""People, their passwords and roles."""

from __future__ import annotations

import pytest
from sqlalchemy import func, select

from app.domain.shared.problems import Conflict, Invalid
from app.domain.sites import accounts
from app.domain.sites.accounts import Role
from app.domain.sites.models import User
from app.extensions import db
from tests.factories import PASSWORD, make_site, make_user
from tests.fakes.clock import StoppedClock

MEMORY = 8

pytestmark = pytest.mark.usefixtures("context")


def test_a_user_is_found_however_the_address_is_typed() -> None:
    user = make_user(make_site(), email="Mia@Shop.Test")
    assert accounts.find_user("  mia@shop.test ") is user


def test_everything_wrong_with_a_new_user_is_said_at_once(clock: StoppedClock) -> None:
    with pytest.raises(Invalid) as refused:
        accounts.create_user(clock, MEMORY, "no address", " ", "short")
    assert {problem.pointer for problem in refused.value.problems} == {"#/email", "#/displayName", "#/password"}
    assert db.session.scalar(select(func.count()).select_from(User)) == 0


def test_an_address_belongs_to_one_user(clock: StoppedClock) -> None:
    make_user(make_site(), email="mia@shop.test")
    with pytest.raises(Conflict):
        accounts.create_user(clock, MEMORY, "MIA@shop.test", "Other", PASSWORD)


def test_a_password_is_kept_as_an_argon2id_hash() -> None:
    user = make_user(make_site())
    assert user.password_hash is not None
    assert user.password_hash.startswith("$argon2id$")
    assert PASSWORD not in user.password_hash


@pytest.mark.parametrize("password", ["", "short", "x" * 201, "aaaaaaaaaaaaaaaa"])
def test_a_poor_password_is_refused_and_the_old_one_stays(password: str) -> None:
    user = make_user(make_site(), email="mia@shop.test")
    with pytest.raises(Invalid):
        accounts.set_password(MEMORY, user, password)
    assert accounts.check_password(MEMORY, "mia@shop.test", PASSWORD) is user


def test_the_right_password_tells_the_user() -> None:
    user = make_user(make_site(), email="mia@shop.test")
    assert accounts.check_password(MEMORY, "mia@shop.test", PASSWORD) is user


def test_every_reason_to_refuse_sounds_the_same() -> None:
    site = make_site()
    make_user(site, email="mia@shop.test")
    make_user(site, email="disabled@shop.test").enabled = False
    make_user(site, email="without@shop.test", password=None)
    tries = (
        ("mia@shop.test", "wrong"),
        ("nobody@shop.test", PASSWORD),
        ("disabled@shop.test", PASSWORD),
        ("without@shop.test", ""),
    )
    assert {_refusal(*one) for one in tries} == {("wrong_credentials", accounts.WRONG)}


def test_a_refused_password_does_not_open_though_it_is_right() -> None:
    make_user(make_site(), email="mia@shop.test")
    assert _refusal("mia@shop.test", PASSWORD, refused=(PASSWORD,))


def test_roles_count_on_their_site_and_superadmin_on_every_site() -> None:
    here, there = make_site(), make_site("there.localhost", "There")
    mia = make_user(here, Role.MERCHANDISER)
    sue = make_user(here, Role.SUPERADMIN)
    assert accounts.roles_of(mia.id, here.id) == {Role.MERCHANDISER}
    assert accounts.roles_of(mia.id, there.id) == frozenset()
    assert accounts.roles_of(sue.id, there.id) == {Role.SUPERADMIN}


def test_granting_twice_changes_nothing() -> None:
    site = make_site()
    mia = make_user(site, Role.MERCHANDISER)
    assert not accounts.grant(mia, site.id, Role.MERCHANDISER)
    assert accounts.grant(mia, site.id, Role.ADMIN)


def test_a_superadmin_reaches_every_site_and_others_theirs() -> None:
    here, there = make_site(name="Here"), make_site("there.localhost", "There")
    mia, sue = make_user(here, Role.MERCHANDISER), make_user(there, Role.SUPERADMIN)
    assert [site.name for site in accounts.reachable_sites(mia.id)] == ["Here"]
    assert [site.host for site in accounts.reachable_sites(sue.id)] == ["localhost", "there.localhost"]


def _refusal(email: str, password: str, refused: tuple[str, ...] = ()) -> tuple[str, str]:
    with pytest.raises(Invalid) as wrong:
        accounts.check_password(MEMORY, email, password, refused)
    return wrong.value.problems[0].code, wrong.value.message
