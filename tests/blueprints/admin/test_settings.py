"""The settings of the shop as a whole."""

from __future__ import annotations

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry, Site
from app.domain.sites.settings import change_settings, shop_settings
from app.extensions import db
from app.transaction import transaction
from tests.page_client import PageClient

PATH = "/admin/settings"


@pytest.fixture
def browser(signed_in) -> PageClient:
    page: PageClient = signed_in(Role.ADMIN)
    page.get(PATH)
    return page


def test_name_and_page_size_are_saved_noted_and_told_to_the_shop(app: Flask, browser: PageClient, site_id: int) -> None:
    browser.post(PATH, {"name": " Moss  & Co ", "pageSize": "36"})
    with app.app_context():
        saved, site = shop_settings(site_id), db.session.get(Site, site_id)
        assert (saved.name, saved.page_size) == ("Moss & Co", 36)
        assert site is not None and site.config_version > 1
        assert db.session.scalars(select(AuditEntry)).one().after == {"listing-page-size": 36, "name": "Moss & Co"}


def test_a_page_size_that_cannot_be_is_refused_and_nothing_is_saved(
    app: Flask, browser: PageClient, site_id: int
) -> None:
    for size in ("0", "101", "", "x", "1.5", "-1", "٣", "9" * 30):
        page = browser.post(PATH, {"name": "Other", "pageSize": size}, status=400)
        assert page.value("name") == "Other"
    with app.app_context():
        assert shop_settings(site_id).name == "Fern & Fell"


def test_all_problems_are_told_at_once(browser: PageClient) -> None:
    page = browser.post(PATH, {"name": " ", "pageSize": "0"}, status=400)
    assert [link["href"] for link in page.all("a") if link.get("href", "").startswith("#f-")] == [
        "#f-name",
        "#f-pageSize",
    ]


def test_saving_what_is_stored_notes_nothing(app: Flask, browser: PageClient) -> None:
    browser.post(PATH, {"name": "Fern & Fell", "pageSize": "24"})
    with app.app_context():
        assert db.session.scalars(select(AuditEntry)).all() == []


def test_saving_leaves_the_name_that_another_user_gave_meanwhile(app: Flask, browser: PageClient, site_id: int) -> None:
    shown = browser.get(PATH).value("shown")
    browser.post(PATH, {"name": "Moss & Co", "pageSize": "24"})
    browser.post(PATH, {"name": "Fern & Fell ", "pageSize": "36", "shown": shown})
    with app.app_context():
        saved = shop_settings(site_id)
        assert (saved.name, saved.page_size) == ("Moss & Co", 36)


def test_a_theme_that_is_gone_may_stay(app: Flask, browser: PageClient, site_id: int) -> None:
    with app.app_context(), transaction():
        change_settings(site_id, {"storefront-theme": "gone"})
    shown = browser.get(PATH).value("shown")
    browser.post(PATH, {"name": "Moss & Co", "pageSize": "24", "theme": "gone", "shown": shown})
    with app.app_context():
        assert (shop_settings(site_id).name, shop_settings(site_id).theme) == ("Moss & Co", "gone")


def test_a_theme_is_chosen_from_those_that_are_found(app: Flask, browser: PageClient, site_id: int) -> None:
    page = browser.get(PATH)
    assert {"market", "gallery"} <= {field["value"] for field in page.all("input") if field.get("name") == "theme"}
    browser.post(PATH, {"name": "Fern & Fell", "pageSize": "24", "theme": "gallery"})
    with app.app_context():
        assert shop_settings(site_id).theme == "gallery"


def test_a_theme_that_is_not_there_is_refused_and_one_that_went_is_named(
    app: Flask, browser: PageClient, site_id: int
) -> None:
    browser.post(PATH, {"name": "Fern & Fell", "pageSize": "24", "theme": "none"}, status=400)
    with app.app_context(), transaction():
        change_settings(site_id, {"storefront-theme": "gone"})
    assert "The theme “gone” is missing" in browser.get(PATH).texts["p"]
    browser.post(PATH, {"name": "Moss & Co", "pageSize": "24"})
    with app.app_context():
        assert shop_settings(site_id).theme == "gone", "a form without a theme leaves it"


def test_a_preview_leads_to_the_shop_with_a_token(app: Flask, browser: PageClient) -> None:
    answer = browser.client.get(f"{PATH}/themes/gallery/preview")
    assert answer.status_code == 302 and "/theme-preview?token=" in answer.location
    assert browser.client.get(f"{PATH}/themes/none/preview").status_code == 404


def test_the_home_page_in_a_theme_stands_beside_its_name(browser: PageClient) -> None:
    frames = [frame["data-page"] for frame in browser.get(PATH).all("iframe")]
    assert f"{PATH}/themes/gallery/home" in frames
    page = browser.client.get(f"{PATH}/themes/gallery/home")
    assert "/static/themes/gallery/shop-" in page.text and "<script src" not in page.text
    assert browser.client.get(f"{PATH}/themes/none/home").status_code == 404
