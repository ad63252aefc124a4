"""A site's settings: what differs from its default has a record."""

from __future__ import annotations

import threading

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.shared.problems import Invalid
from app.domain.sites.models import Setting, Site
from app.domain.sites.setting_keys import SETTINGS
from app.domain.sites.settings import change_settings, settings_of
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_site
from tests.statements import statements
from tests.waiting import wait_until_one_waits


@pytest.fixture
def site(context: None) -> Site:
    with transaction():
        return make_site()


def stored(site: Site) -> dict[str, object]:
    db.session.rollback()
    return dict(db.session.execute(select(Setting.key, Setting.value).where(Setting.site_id == site.id)).all())


def change(site: Site, **changes: object) -> dict[str, tuple[object, object]]:
    with transaction():
        return change_settings(site.id, {key.replace("_", "-"): value for key, value in changes.items()})


@pytest.mark.parametrize(("key", "other"), [("taxonomy-active-id", "kit"), ("listing-page-size", 48)])
def test_a_setting_that_goes_back_to_its_default_has_no_record_any_more(site: Site, key: str, other: object) -> None:
    default = SETTINGS[key].default
    assert change(site, **{key: other}) == {key: (default, other)}
    assert stored(site) == {key: other}
    version = site.config_version
    assert change(site, **{key: default}) == {key: (other, default)}
    assert stored(site) == {}
    assert settings_of(site.id)[key] == default
    assert site.config_version == version + 1, "pages that are kept are made anew"
    change(site, **{key: other})
    assert stored(site) == {key: other}


def test_a_default_that_stands_already_changes_nothing(site: Site) -> None:
    assert change(site, taxonomy_active_id=None) == {}
    assert stored(site) == {}


def test_set_and_taken_back_in_one_transaction(site: Site) -> None:
    with transaction():
        change_settings(site.id, {"taxonomy-active-id": "kit"})
        change_settings(site.id, {"taxonomy-active-id": None})
        change_settings(site.id, {"taxonomy-active-id": "garden"})
    assert stored(site) == {"taxonomy-active-id": "garden"}


def test_what_a_key_does_not_take_changes_nothing(site: Site) -> None:
    with pytest.raises(Invalid):
        change(site, listing_page_size=0, taxonomy_active_id="kit")
    assert stored(site) == {}


@pytest.mark.concurrent
def test_two_people_change_the_same_setting_at_the_same_moment(app: Flask, site: Site) -> None:
    site_id = site.id

    def change_too() -> None:
        with app.app_context(), transaction():
            change_settings(site_id, {"listing-page-size": 36})

    other = threading.Thread(target=change_too)
    with transaction():
        change_settings(site_id, {"listing-page-size": 48})
        db.session.flush()
        other.start()
        wait_until_one_waits()
    other.join()
    db.session.rollback()
    assert settings_of(site_id)["listing-page-size"] == 36


@pytest.mark.concurrent
def test_two_people_put_the_same_setting_back_at_the_same_moment(app: Flask, site: Site) -> None:
    site_id, default = site.id, SETTINGS["listing-page-size"].default
    change(site, listing_page_size=48)

    def restore_settings() -> None:
        with app.app_context(), transaction():
            change_settings(site_id, {"listing-page-size": default})
            done.append(True)

    done: list[bool] = []
    other = threading.Thread(target=restore_settings)
    with transaction():
        change_settings(site_id, {"listing-page-size": default})
        db.session.flush()
        other.start()
        wait_until_one_waits()
    other.join()
    assert done == [True]
    assert stored(site) == {}


def test_the_site_is_locked_before_its_settings(app: Flask, site: Site) -> None:
    """Else two who store the same settings in another order could each wait for the other."""
    beginnings = ("UPDATE sites", "INSERT INTO settings")
    with statements(app) as seen:
        change(site, listing_page_size=48)
    assert [one for sql in seen for one in beginnings if sql.startswith(one)] == list(beginnings)
