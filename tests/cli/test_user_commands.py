"""`user token` and its like, where an installation has several sites."""

from __future__ import annotations

import pytest
from click.testing import Result
from flask import Flask

from app.domain.sites.accounts import Role
from app.domain.sites.models import RoleGrant, Site
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_site, make_user


@pytest.fixture
def mia(context: None) -> int:
    """A merchandiser of one of two sites."""
    with transaction():
        make_site("other.test")
        return make_user(make_site("shop.test", "Fern & Fell"), Role.MERCHANDISER, email="mia@shop.test").id


def user(app: Flask, *words: str) -> Result:
    db.session.rollback()
    return app.test_cli_runner().invoke(args=["user", *words])


def test_a_user_of_one_site_needs_to_name_none(app: Flask, mia: int) -> None:
    made = user(app, "token", "mia@shop.test", "--name", "Agent")
    assert made.exit_code == 0 and "For mia@shop.test on Fern & Fell" in made.output, made.output
    assert "shop_pat_" in made.output
    assert user(app, "tokens", "mia@shop.test").output.startswith("Agent\t")
    assert user(app, "revoke-token", "mia@shop.test", "--name", "Agent").exit_code == 0


def test_the_end_of_a_token_is_a_day_of_the_shop(app: Flask, mia: int) -> None:
    """It is noon in UTC, and the next day already where the shop is."""
    with transaction():
        db.session.query(Site).filter_by(name="Fern & Fell").update({"time_zone": "Pacific/Auckland"})
    assert "until 2027-02-19;" in user(app, "token", "mia@shop.test", "--name", "Agent").output
    assert "\t2027-02-19\t" in user(app, "tokens", "mia@shop.test").output


def test_a_user_of_several_sites_names_one(app: Flask, mia: int) -> None:
    with transaction():
        db.session.add(RoleGrant(user_id=mia, site_id=make_site("third.test").id, role=Role.MERCHANDISER.value))
    refused = user(app, "token", "mia@shop.test", "--name", "Agent")
    assert refused.exit_code == 1 and "Say which site with --site HOST" in refused.output
    assert user(app, "token", "mia@shop.test", "--name", "Agent", "--site", "third.test").exit_code == 0


def test_a_user_without_a_site_is_no_reason_to_take_another(app: Flask, mia: int) -> None:
    with transaction():
        db.session.query(RoleGrant).filter_by(user_id=mia).delete()
    assert "Say which site" in user(app, "token", "mia@shop.test", "--name", "Agent").output
