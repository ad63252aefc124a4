"""How searches are understood, in the admin: the setting, its preview and replay, and Test a search."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry, Site
from app.domain.sites.settings import change_settings, settings_of
from app.extensions import db
from app.jobs.relevance import replay
from app.transaction import transaction
from tests.blueprints.storefront import small_shop
from tests.factories import make_user
from tests.page_client import PageClient
from tests.snapshots import built

SETTINGS, TRY, TEST = "/admin/settings/search", "/admin/search/try", "/admin/search/test"
ON = {"contentSearch": "on", "tracking": "on", "clickTracking": "on", "filter": ["manufacturer", "price"]}
JSON = {"Accept": "application/json"}


def _build() -> int:
    site_id = small_shop.build("localhost")
    with transaction():
        make_user(db.session.get_one(Site, site_id), Role.MERCHANDISER, email="mia@shop.test")
    return site_id


@pytest.fixture
def site_id(app: Flask) -> int:
    return built(app, _build, __name__)


@pytest.fixture
def mia(app: Flask, site_id: int) -> PageClient:
    return PageClient(app).signed_in("mia@shop.test")


def set_mode(app: Flask, site_id: int, mode: str) -> None:
    with app.app_context(), transaction():
        change_settings(site_id, {"search-understanding": mode})


def explain(mia: PageClient, words: str) -> dict[str, Any]:
    answer = mia.client.get(TEST, query_string={"q": words}, base_url=mia.base, headers=JSON)
    found: dict[str, Any] = answer.json["understanding"]
    return found


def test_the_setting_is_saved_and_noted(app: Flask, mia: PageClient, site_id: int):
    mia.get(SETTINGS)
    mia.post(SETTINGS, ON | {"understanding": "on"})
    with app.app_context():
        assert settings_of(site_id)["search-understanding"] == "on"
        entry = db.session.scalars(select(AuditEntry).where(AuditEntry.action == "settings.search")).one()
        assert entry.after["search-understanding"] == "on"


def test_a_mode_that_there_is_not_changes_nothing(app: Flask, mia: PageClient, site_id: int):
    mia.get(SETTINGS)
    mia.post(SETTINGS, ON | {"understanding": "always"})
    with app.app_context():
        assert settings_of(site_id)["search-understanding"] == "suggested"


def test_a_search_is_explained_with_what_was_understood(mia: PageClient):
    found = explain(mia, "navy tents under £40 for mugs")
    assert (found["mode"], found["searched"]) == ("suggested", "navy tents for mugs")
    assert [(one["words"], one["label"], one["shown"], one["value"]) for one in found["filters"]] == [
        ("navy", "Colour", "Navy", "Navy"),
        ("tents", "Kind", "Tents", "tents"),
        ("under £40", "Price", "up to £40.00", None),
    ]


def test_a_search_is_explained_with_why_words_stayed_words(mia: PageClient):
    left = explain(mia, "99 kg tents")["leftAsWords"]
    assert {"words": "99 kg", "reason": "No number of Tents fits it."} in left


def test_the_number_of_a_price_is_no_word_that_products_lack(mia: PageClient):
    answer = mia.client.get(TEST, query_string={"q": "qqzz tents under £40"}, base_url=mia.base, headers=JSON)
    unknown = [one["message"] for one in answer.json["advice"] if one["code"] == "unknown_word"]
    assert len(unknown) == 1 and "“qqzz”" in unknown[0]


def test_the_page_says_it_in_words(mia: PageClient):
    page = mia.client.get(TEST, query_string={"q": "tents under £40"}, base_url=mia.base).text
    assert "“under £40” is Price: up to £40.00" in html.unescape(page)
    assert "a click applies one" in page


def test_filters_that_leave_no_product_are_explained(app: Flask, mia: PageClient, site_id: int):
    set_mode(app, site_id, "on")
    found = explain(mia, "mugs under £5")
    assert found["wasEmptied"] is True
    assert found["outcome"] == "No product passes these filters, so the words are searched as typed."


def test_a_preview_shows_what_the_setting_would_change(mia: PageClient):
    mia.get(SETTINGS)
    form = {"understanding": "on", "query": "tents under £40"}
    page = mia.client.post(f"{TRY}?kind=understanding", data=form | {"csrf_token": mia.token}, base_url=mia.base).text
    assert "With understanding of searches on" in page
    assert re.search(r"8 → 3 found", page), re.findall(r"\d+ → \d+ found", page)


def test_a_preview_of_an_unknown_mode_says_so(mia: PageClient):
    mia.get(SETTINGS)
    answer = mia.client.post(
        f"{TRY}?kind=understanding",
        data={"understanding": "always", "csrf_token": mia.token},
        base_url=mia.base,
    )
    assert answer.status_code == 400
    assert "Say which mode to try: off, suggested or on." in answer.text


def test_the_top_searches_can_be_replayed_with_it(app: Flask, mia: PageClient):
    mia.get(SETTINGS)
    form = {"understanding": "on", "csrf_token": mia.token}
    answer = mia.client.post("/admin/search/replays?kind=understanding", data=form, base_url=mia.base)
    assert answer.status_code == 302
    with app.app_context():
        replay(answer.location.rpartition("/")[2])
    assert "With understanding of searches on" in mia.client.get(answer.location, base_url=mia.base).text
