"""The whole forms of settings: saving one changes only what was changed in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from flask import Flask

from app.blueprints.admin.forms import changes_since, shown_settings
from app.domain.sites.accounts import Role
from app.domain.sites.settings import change_settings, settings_of
from app.transaction import transaction
from tests.page_client import PageClient


@dataclass(frozen=True)
class Form:
    """A form as a browser sends it, with one field changed (`typed`). `mine` is the setting that this changes, `other`
    one that another user changes, `before` what another user makes of mine. `refused` is no value of the field."""

    path: str
    untouched: dict[str, object]
    typed: dict[str, object]
    mine: tuple[str, Any]
    other: tuple[str, Any]
    before: Any
    refused: dict[str, object]


FORMS = {
    "search": Form(
        "/admin/settings/search",
        {"contentSearch": "on", "tracking": "on", "clickTracking": "on", "learning": "off"}
        | {"filter": ["manufacturer", "price", "inStock", "onSale"], "stopWords": "", "blockedWords": ""},
        {"stopWords": "cheap"},
        mine=("search-stop-words", ["cheap"]),
        other=("search-click-tracking-enabled", False),
        before=["dear"],
        refused={"stopWords": "two words and more"},
    ),
    "ranking": Form(
        "/admin/search/ranking/settings",
        {"soldOut": "as-is", "sales": "none", "newness": "none", "stock": "none"},
        {"sales": "high"},
        mine=("search-weight-sales", "high"),
        other=("search-sold-out", "hidden"),
        before="low",
        refused={"sales": "most"},
    ),
    "seo": Form(
        "/admin/seo/settings",
        {"leastProducts": "3", "staleCounts": "on", "redirects": "on", "tracking": "", "skipped": ""},
        {"leastProducts": "5"},
        mine=("facet-landing-min-products", 5),
        other=("seo-extra-tracking-parameters", ["campaign"]),
        before=7,
        refused={"leastProducts": "many"},
    ),
    "shop": Form(
        "/admin/settings",
        {"name": "Fern & Fell", "pageSize": "24", "theme": "market"},
        {"pageSize": "36"},
        mine=("listing-page-size", 36),
        other=("storefront-theme", "gallery"),
        before=48,
        refused={"pageSize": "0"},
    ),
    "till": Form(
        "/admin/pos/settings",
        {"posAllowQuickPayments": "on", "posMaxTransactionAmount": "1000.00"}
        | {"posAllowCash": "on", "posCashRounding": "0", "posProcessorLocationId": "", "posProcessorAccountId": ""}
        | {"posUnlockRequired": "on"},
        {"posMaxTransactionAmount": "250"},
        mine=("posMaxTransactionAmount", 25_000),
        other=("posProcessorAccountId", "acct_1"),
        before=50_000,
        refused={"posMaxTransactionAmount": "much"},
    ),
}
every_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


@pytest.fixture
def browser(signed_in) -> PageClient:
    page: PageClient = signed_in(Role.ADMIN)
    return page


def elsewhere(app: Flask, site_id: int, key: str, value: object) -> None:
    with app.app_context(), transaction():
        change_settings(site_id, {key: value})


def stored(app: Flask, site_id: int, *keys: str) -> list[object]:
    with app.app_context():
        settings = settings_of(site_id)
        return [settings[key] for key in keys]


@every_form
def test_saving_leaves_another_setting_that_another_user_changed_meanwhile(
    app: Flask, browser: PageClient, site_id: int, form: Form
) -> None:
    shown = browser.get(form.path).value("shown")
    elsewhere(app, site_id, *form.other)
    browser.post(form.path, form.untouched | form.typed | {"shown": shown})
    assert stored(app, site_id, form.mine[0], form.other[0]) == [form.mine[1], form.other[1]]


@every_form
def test_of_two_changes_of_one_setting_the_later_holds(
    app: Flask, browser: PageClient, site_id: int, form: Form
) -> None:
    shown = browser.get(form.path).value("shown")
    elsewhere(app, site_id, form.mine[0], form.before)
    browser.post(form.path, form.untouched | form.typed | {"shown": shown})
    assert stored(app, site_id, form.mine[0]) == [form.mine[1]]


@every_form
def test_a_form_in_which_nothing_was_changed_saves_nothing(
    app: Flask, browser: PageClient, site_id: int, form: Form
) -> None:
    shown = browser.get(form.path).value("shown")
    elsewhere(app, site_id, *form.other)
    elsewhere(app, site_id, form.mine[0], form.before)
    browser.post(form.path, form.untouched | {"shown": shown})
    assert "No changes to save." in browser.client.get(form.path).text
    assert stored(app, site_id, form.mine[0], form.other[0]) == [form.before, form.other[1]]


@every_form
def test_a_refused_form_still_leaves_what_another_user_changed_before(
    app: Flask, browser: PageClient, site_id: int, form: Form
) -> None:
    shown = browser.get(form.path).value("shown")
    elsewhere(app, site_id, *form.other)
    page = browser.post(form.path, form.untouched | form.refused | {"shown": shown}, status=400)
    assert page.value("shown") == shown
    browser.post(form.path, form.untouched | form.typed | {"shown": page.value("shown")})
    assert stored(app, site_id, form.mine[0], form.other[0]) == [form.mine[1], form.other[1]]


@every_form
def test_a_form_that_does_not_say_what_was_shown_saves_all_of_its_settings(
    app: Flask, browser: PageClient, site_id: int, form: Form
) -> None:
    [was] = stored(app, site_id, form.other[0])
    elsewhere(app, site_id, *form.other)
    browser.get(form.path)
    browser.post(form.path, form.untouched | form.typed)
    assert stored(app, site_id, form.mine[0], form.other[0]) == [form.mine[1], was]


def test_only_what_differs_from_what_was_shown_is_a_change() -> None:
    shown = shown_settings({"name": "Fern & Fell", "size": 24, "words": ["the"]})
    assert changes_since(shown, {"name": "Fern & Fell", "size": 36, "words": ["the"]}) == {"size": 36}
    assert changes_since(shown, {"size": None, "theme": "market"}) == {"size": None, "theme": "market"}


@pytest.mark.parametrize("shown", ["", "{", "[]", "null", "[" * 100, '{"words": [' + "1," * 5_000 + "1]}"])
def test_all_is_a_change_where_nobody_knows_what_was_shown(shown: str) -> None:
    wanted = {"name": "Fern & Fell", "size": 36}
    assert changes_since(shown, wanted) == wanted
