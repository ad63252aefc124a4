"""The settings of the SEO section."""

from __future__ import annotations

import pytest
from flask import Flask

from app.domain.seo.settings import SeoSettings, stored_settings
from app.domain.sites.accounts import Role
from tests.page_client import PageClient

PAGE = "/admin/seo/settings"
TYPED = {"leastProducts": "5", "staleCounts": "on", "redirects": "on", "tracking": "ref\nsession", "skipped": "view"}


@pytest.fixture
def browser(signed_in) -> PageClient:
    page: PageClient = signed_in(Role.ADMIN)
    page.get(PAGE)
    return page


def test_settings_are_saved_and_shown_again(app: Flask, browser: PageClient, site_id: int) -> None:
    browser.post(PAGE, TYPED)
    with app.app_context():
        assert stored_settings(site_id) == SeoSettings(5, True, False, ("ref", "session"), ("view",))
    page = browser.client.get(PAGE).text
    assert "Saved: products for a landing page, tracking parameters, parameters that bots skip." in page
    assert "ref\nsession</textarea>" in page and 'value="5"' in page
    browser.post(PAGE, TYPED)
    assert "No changes to save." in browser.client.get(PAGE).text


@pytest.mark.parametrize(
    ("field", "typed", "problem"),
    [
        ("leastProducts", "many", "must be a whole number from 1 to 10,000"),
        ("leastProducts", "0", "must be a whole number from 1 to 10,000"),
        ("tracking", "price_min", "filters products here, so it cannot be ignored"),
        ("tracking", "manufacturer", "filters products here, so it cannot be ignored"),
        ("skipped", "a/b", "cannot be the name of a parameter"),
    ],
)
def test_what_cannot_be_is_refused_and_stays_in_the_form(
    app: Flask, browser: PageClient, site_id: int, field: str, typed: str, problem: str
) -> None:
    page = browser.post(PAGE, TYPED | {field: typed}, status=400)
    assert problem in page.texts["a"]
    assert typed in (page.texts["textarea"] if field != "leastProducts" else page.value(field))
    with app.app_context():
        assert stored_settings(site_id) == SeoSettings(3, True, False, (), ())


def test_saving_leaves_what_was_decided_under_crawlers_meanwhile(app: Flask, browser: PageClient, site_id: int) -> None:
    shown = browser.get(PAGE).value("shown")
    browser.post("/admin/seo/crawlers/tracking", {"parameter": "campaign"})
    browser.post(PAGE, TYPED | {"tracking": "", "shown": shown})
    with app.app_context():
        assert stored_settings(site_id) == SeoSettings(5, True, False, ("campaign",), ("view",))


def test_a_form_that_is_sent_twice_is_saved_once(browser: PageClient) -> None:
    sent = TYPED | {"shown": browser.get(PAGE).value("shown")}
    browser.post(PAGE, sent)
    browser.post(PAGE, sent)
    assert "No changes to save." in browser.client.get(PAGE).text


def test_a_merchandiser_sees_the_section_without_its_settings(signed_in) -> None:
    page = signed_in().client.get("/admin/seo/sitemap").text
    assert PAGE not in page
