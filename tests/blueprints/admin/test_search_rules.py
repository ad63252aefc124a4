"""The pages of Rules and ranking."""

from __future__ import annotations

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.relevance.models import SearchRule
from app.domain.search.models import ServedConfiguration
from app.domain.search_statistics.models import SearchWordDay
from app.domain.sites.models import Site
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.ports import EXTENSION
from app.transaction import transaction
from tests.blueprints.admin.catalogue_client import Merchandiser, merchandiser
from tests.factories import make_product, make_rule, make_taxonomy
from tests.page_client import Reading
from tests.statements import statements

LIST = "/admin/search/ranking"
NEW = f"{LIST}/new"


@pytest.fixture
def shop(app: Flask) -> Merchandiser:
    found = merchandiser(app)
    with app.app_context(), transaction():
        site = db.session.get(Site, found.site_id)
        for sku in ("COAT-1", "COAT-2", "COAT-3"):
            make_product(site, sku, name=f"Rain coat {sku[-1]}")
    return found


def stored(app: Flask) -> list[SearchRule]:
    with app.app_context():
        return list(db.session.scalars(select(SearchRule).order_by(SearchRule.id)))


def rule_id(app: Flask, shop: Merchandiser, **more: object) -> int:
    with app.app_context(), transaction():
        return make_rule(db.session.get(Site, shop.site_id), "rain coat", **more).id


def values(page: Reading, name: str) -> list[str]:
    return [field.get("value", "") for field in page.all("input", "button") if field.get("name") == name]


def test_an_empty_list_says_what_rules_are_for(shop: Merchandiser):
    page = shop.get(LIST)
    assert "No rules yet" in page.texts["p"]
    assert any(link.get("href") == NEW for link in page.all("a"))


def test_a_rule_is_begun_for_a_word_and_saved(app: Flask, shop: Merchandiser):
    page = shop.get(f"{NEW}?term=Rain+coat&pin=COAT-2")
    assert (page.value("term"), values(page, "pin"), values(page, "position")) == ("Rain coat", ["COAT-2"], ["1"])
    form = {"term": "Rain coat", "pin": ["COAT-2", "COAT-1"], "position": ["3", "1"], "bannerText": "Dry feet"}
    form |= {"startsAt": "2026-07-01T09:00", "note": "Summer"}
    answer = shop.post(NEW, form)
    (rule,) = stored(app)
    assert answer.location == f"{LIST}/{rule.id}"
    assert rule.pins == [{"sku": "COAT-1", "position": 1}, {"sku": "COAT-2", "position": 3}]
    assert rule.starts_at.isoformat() == "2026-07-01T08:00:00+00:00"
    edited = shop.get(answer.location)
    assert (edited.value("startsAt"), edited.value("bannerText")) == ("2026-07-01T09:00", "Dry feet")


def test_without_a_term_there_is_nothing_to_compare_yet(shop: Merchandiser):
    def asks_at_once(page: Reading) -> bool:
        return next(tag for tag in page.all("div") if tag.get("id") == "try")["hx-trigger"].startswith("load")

    assert not asks_at_once(shop.get(NEW))
    assert asks_at_once(shop.get(f"{NEW}?term=coat"))


def test_a_word_that_has_a_rule_leads_to_it(app: Flask, shop: Merchandiser):
    known = rule_id(app, shop)
    answer = shop.pages.client.get(f"{NEW}?term=RAIN++coat", base_url=shop.pages.base)
    assert answer.location == f"{LIST}/{known}"


def test_what_is_wrong_stands_at_its_field_and_nothing_that_was_typed_is_lost(app: Flask, shop: Merchandiser):
    form = {"term": "rain coat", "boost": "NO-1", "redirectUrl": "//evil.example", "endsAt": "soon", "note": "Mine"}
    page = shop.post(NEW, form, status=400)
    links = {link["href"] for link in page.all("a") if link.get("href", "").startswith("#f-")}
    assert links == {"#f-boosts-0", "#f-redirectUrl", "#f-endsAt"}
    ids = {attributes["id"] for _, attributes in page.tags if "id" in attributes}
    assert {link[1:] for link in links} <= ids
    assert page.value("redirectUrl") == "//evil.example" and values(page, "boost") == ["NO-1"]
    assert stored(app) == []


def test_a_term_that_is_taken_leads_to_its_rule(app: Flask, shop: Merchandiser):
    known = rule_id(app, shop)
    page = shop.post(NEW, {"term": "Rain Coat", "redirectUrl": "/c/x"}, status=400)
    assert f"{LIST}/{known}" in {link.get("href") for link in page.all("a")}


def test_buttons_change_the_form_and_save_nothing(app: Flask, shop: Merchandiser):
    form = {"term": "rain coat", "pin": ["COAT-1", "COAT-2"], "position": ["1", "4"], "boost": "COAT-3"}
    moved = Reading(shop.swap(NEW, form | {"intent": "up:COAT-2"}).text)
    assert (values(moved, "pin"), values(moved, "position")) == (["COAT-2", "COAT-1"], ["1", "4"])
    dragged = Reading(shop.swap(NEW, form | {"intent": "place:1:COAT-1"}).text)
    assert values(dragged, "pin") == ["COAT-2", "COAT-1"]
    pinned = Reading(shop.swap(NEW, form | {"intent": "pin:COAT-3"}).text)
    assert (values(pinned, "pin"), values(pinned, "position")) == (["COAT-1", "COAT-2", "COAT-3"], ["1", "4", "2"])
    assert values(pinned, "boost") == []
    removed = Reading(shop.swap(NEW, form | {"intent": "remove:COAT-1"}).text)
    assert (values(removed, "pin"), values(removed, "position")) == (["COAT-2"], ["4"])
    without_script = shop.post(NEW, form | {"intent": "bury:COAT-1"}, status=200)
    assert (without_script.value("term"), values(without_script, "bury")) == ("rain coat", ["COAT-1"])
    for nonsense in ("place:x:COAT-1", "up:", "pin:", "fly:COAT-1", "place:99:COAT-1"):
        assert shop.swap(NEW, form | {"intent": nonsense}).status_code == 200
    assert stored(app) == []


def test_products_are_looked_up_by_name_or_sku(shop: Merchandiser):
    found = shop.fragment("/admin/search/products?field=lookup&lookup=coat-2&for=rule").text
    assert [button["value"] for button in Reading(found).all("button")] == ["pin:COAT-2", "boost:COAT-2", "bury:COAT-2"]
    plain = Reading(shop.fragment("/admin/search/products?q=rain").text)
    assert [button["data-pick"] for button in plain.all("button")] == ["COAT-1", "COAT-2", "COAT-3"]
    assert "No product has “&lt;b&gt;”" in shop.fragment("/admin/search/products?q=<b>").text


def test_what_is_found_shows_picture_price_stock_and_level(app: Flask, shop: Merchandiser):
    with app.app_context(), transaction():
        site = db.session.get_one(Site, shop.site_id)
        make_taxonomy(site, [{"levelId": "coats", "name": "Coats"}], active=True)
        make_product(site, "HAT-1", name="Sou’wester", price=1_999, stock=1_200, taxonomy_level_id="coats")
        make_product(site, "HAT-2", name="Sou’wester two", stock=0)
    for purpose in ("rule", "pick"):
        found = shop.fragment(f"/admin/search/products?q=wester&for={purpose}").text
        assert found.count('class="thumb"') == 2
        for fact in ("£19.99", "1,200 in stock", "Coats", "Sold out", "No level"):
            assert f"<span>{fact}</span>" in found
    assert "£19.99" in shop.fragment("/admin/catalogue/products/lookup?lookup=hat-1").text


def test_a_lookup_reads_what_its_products_share_once(app: Flask, shop: Merchandiser):
    with statements(app) as one:
        shop.fragment("/admin/search/products?q=coat-1")
    with statements(app) as three:
        shop.fragment("/admin/search/products?q=coat")
    assert len(one) == len(three)


def test_the_search_box_has_the_focus_after_a_pin(app: Flask, shop: Merchandiser):
    form = {"term": "coat", "intent": "pin:COAT-1"}
    answer = Reading(shop.swap(NEW, form).text)
    assert [one.get("id") for _, one in answer.tags if "data-focus" in one] == ["f-lookup"]
    answer = Reading(shop.swap(NEW, {"term": "coat", "pin": "COAT-1", "position": "1", "intent": "remove:COAT-1"}).text)
    assert [one.get("id") for _, one in answer.tags if "data-focus" in one] == ["placing-heading"]


def test_a_save_in_place_answers_with_the_form_and_says_so(app: Flask, shop: Merchandiser):
    known = rule_id(app, shop)
    form = {"revision": "1", "term": "rain coat", "redirectUrl": "/search?q=coats"}
    shop.get(f"{LIST}/{known}")
    answer = shop.swap(f"{LIST}/{known}", form)
    assert (answer.status_code, Reading(answer.text).value("revision")) == (200, "2")
    assert "Saved. Live within two seconds." in answer.text
    assert "No changes to save." in shop.swap(f"{LIST}/{known}", form | {"revision": "2"}).text


def test_over_a_newer_revision_both_are_shown(app: Flask, shop: Merchandiser):
    known = rule_id(app, shop, revision=3)
    form = {"revision": "2", "term": "rain coat", "redirectUrl": "/c/mine"}
    page = shop.post(f"{LIST}/{known}", form, status=409)
    assert page.value("revision") == "3" and page.value("redirectUrl") == "/c/mine"
    assert "/pages/kettles" in page.texts["td"]


def test_rows_pause_resume_and_delete_and_say_what_changes(app: Flask, shop: Merchandiser):
    known = rule_id(app, shop, pins=[{"sku": "COAT-1", "position": 1}], redirect_url=None)
    page = shop.get(LIST)
    assert "1 pinned product goes back to its usual place." in page.texts["li"]
    assert "Paused" in shop.swap(f"{LIST}/{known}/pause", {}).text
    assert not stored(app)[0].enabled
    shop.post(f"{LIST}/{known}/resume", {})
    assert stored(app)[0].enabled
    shop.post(f"{LIST}/{known}/delete", {"revision": "1"}, status=409)
    shop.post(f"{LIST}/{known}/delete", {"revision": "3"})
    assert stored(app) == []


def test_what_is_not_live_is_marked_and_can_be_pushed(app: Flask, shop: Merchandiser):
    rule_id(app, shop, words_version=2)
    with app.app_context(), transaction():
        more = {"synonyms": [], "rules": []}
        db.session.add(ServedConfiguration(site_id=shop.site_id, saved_version=2, live_version=1, **more))
    assert "Not in search yet" in shop.get(LIST).texts["span"]
    shop.post(f"{LIST}/resync", {})
    assert "Not in search yet" not in shop.get(LIST).texts["span"]


def test_how_often_a_rule_applied_is_counted_by_its_term(app: Flask, shop: Merchandiser):
    rule_id(app, shop)
    now = app.extensions[EXTENSION].clock.now()
    with app.app_context(), transaction():
        counts = {"searches": 50, "ruled": 43}
        db.session.add(SearchWordDay(site_id=shop.site_id, day=now.date(), word="rain coat", **counts))
    assert "43" in shop.get(LIST).texts["td"].split()
    with app.app_context(), transaction():
        change_settings(shop.site_id, {"search-term-tracking-enabled": False})
    assert "43" not in shop.get(LIST).texts.get("td", "").split()


@pytest.mark.parametrize("query", ["state=nonsense&order=x&p=-1", "p=99999999999", "state=unsynced&q=coat"])
def test_whatever_the_address_says_is_answered(app: Flask, shop: Merchandiser, query: str):
    rule_id(app, shop)
    assert shop.get(f"{LIST}?{query}").texts["h1"] == "Rules and ranking"


def test_another_shops_rule_is_not_found(app: Flask, shop: Merchandiser):
    known = rule_id(app, shop)
    other = merchandiser(app, "other.test")
    for path in (f"{LIST}/{known}",):
        other.get(path, status=404)
        other.post(path, {"term": "x"}, status=404)
    for act in ("pause", "resume", "delete"):
        other.post(f"{LIST}/{known}/{act}", {}, status=404)
    assert stored(app)[0].enabled


def test_a_live_rule_whose_page_has_gone_is_marked_in_the_list_and_in_the_editor(app: Flask, shop: Merchandiser):
    known = rule_id(app, shop, redirect_url="/pages/gone")
    assert "/pages/gone leads nowhere" in shop.fragment(LIST).text
    edited = shop.get(f"{LIST}/{known}")
    assert "leads nowhere: no such page" in " ".join(edited.texts.values())
    shop.post(f"{LIST}/{known}/pause", {})
    assert "leads nowhere" not in shop.fragment(LIST).text


@pytest.mark.parametrize(
    ("sku", "before", "positions", "then"),
    [
        ("COAT-1", "1", ["3", "2", "3"], [("COAT-2", "1"), ("COAT-3", "2"), ("COAT-1", "3")]),
        ("COAT-3", "3", ["1", "2", "1"], [("COAT-3", "1"), ("COAT-1", "2"), ("COAT-2", "3")]),
        ("COAT-1", "", ["2", "2", "3"], [("COAT-2", "1"), ("COAT-1", "2"), ("COAT-3", "3")]),
        ("COAT-1", "1", ["9", "2", "3"], [("COAT-2", "2"), ("COAT-3", "3"), ("COAT-1", "9")]),
        ("COAT-1", "1", ["x", "2", "3"], [("COAT-2", "2"), ("COAT-3", "3"), ("COAT-1", "x")]),
    ],
)
def test_a_position_that_another_pin_has_is_taken_as_by_dragging(
    shop: Merchandiser, sku: str, before: str, positions: list[str], then: list[tuple[str, str]]
):
    form = {
        "term": "coat",
        "pin": ["COAT-1", "COAT-2", "COAT-3"],
        "position": positions,
        "intent": f"at:{before}:{sku}",
    }
    moved = Reading(shop.swap(NEW, form).text)
    assert list(zip(values(moved, "pin"), values(moved, "position"), strict=True)) == then


def test_without_javascript_products_are_looked_up_and_added_by_buttons(app: Flask, shop: Merchandiser):
    assert "look" in values(shop.get(NEW), "intent")
    page = shop.post(NEW, {"term": "coat", "boost": "COAT-1", "lookup": "coat-2", "intent": "look"}, status=200)
    assert {"pin:COAT-2", "boost:COAT-2", "bury:COAT-2"} <= set(values(page, "intent"))
    assert (page.value("term"), values(page, "boost"), stored(app)) == ("coat", ["COAT-1"], [])
