"""The preview beside a rule's form as a grid of pictures, and as shoppers would see it."""

from __future__ import annotations

import html
import re

import pytest
from flask import Flask

from app.domain.orders.models import ProductSales
from app.domain.search.engine import SearchContext
from app.domain.search.serving.term_index import Match
from app.domain.search_statistics.models import SearchWordDay
from app.domain.sites.accounts import Role
from app.domain.sites.models import Site
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.admin.catalogue_client import Merchandiser
from tests.domain.relevance.trials.preview_shop import product_id, save_rule, shop
from tests.factories import make_user
from tests.page_client import PageClient
from tests.statements import statements

TRY, NEW = "/admin/search/try?kind=rule", "/admin/search/ranking/new"
NAMES = {f"TENT-{n:02}": f"Tent {n}" for n in range(1, 31)} | {"MUG-1": "Blue mug"}
GRID = {"term": "tent", "layout": "grid"}


@pytest.fixture
def mia(app: Flask, indexing: SearchContext) -> Merchandiser:
    with app.app_context():
        site_id = shop(indexing, "localhost", NAMES)
        with transaction():
            make_user(db.session.get_one(Site, site_id), Role.MERCHANDISER, email="mia@shop.test")
            db.session.add(ProductSales(product_id=product_id(site_id, "TENT-05"), site_id=site_id, units=7))
    indexing.clock.move(seconds=2)  # type: ignore[attr-defined]
    return Merchandiser(PageClient(app).signed_in("mia@shop.test"), site_id)


def cards(page: str) -> list[tuple[str, str]]:
    return re.findall(r'data-row="([^"]+)" data-place="(\d+)"', page)


def marks(page: str) -> dict[str, str]:
    found = re.findall(r'data-row="([^"]+)"(.*?)</li>', page, re.DOTALL)
    shown = ((sku, re.search(r"grid-margin[^>]*>([^<]*)<", card)) for sku, card in found)
    return {sku: mark[1] for sku, mark in shown if mark}


def test_the_grid_shows_the_first_products_and_more_of_them(mia: Merchandiser) -> None:
    page = mia.swap(TRY, GRID).text
    assert [place for _, place in cards(page)] == [str(n) for n in range(1, 25)]
    assert page.count("7 sold in 90 days") == 1
    assert "£10.00" in page and "30 products found" in page
    more = mia.swap(TRY, GRID | {"shown": "48"}).text
    assert len(cards(more)) == 30 and "more-results" not in more


def test_a_pin_says_how_far_it_moves_the_products(mia: Merchandiser) -> None:
    first, second = (sku for sku, _ in cards(mia.swap(TRY, GRID).text)[:2])
    page = mia.swap(TRY, GRID | {"pin": [second, "MUG-1"], "position": ["1", "3"]}).text
    assert [sku for sku, _ in cards(page)[:3]] == [second, first, "MUG-1"]
    assert {sku: marks(page)[sku] for sku in (first, second, "MUG-1")} == {first: "−1", second: "+1", "MUG-1": "new"}
    assert f'value="remove:{second}"' in page and f'value="put:2:{first}"' in page


def test_a_step_in_the_grid_changes_the_form_and_can_be_undone(mia: Merchandiser) -> None:
    form = {"term": "tent", "pin": ["TENT-07"], "position": ["1"], "beside": "1"}
    page = mia.swap(NEW, form | {"intent": "put:1:TENT-09"}).text
    assert re.findall(r'name="pin" value="([^"]+)"', page) == ["TENT-09", "TENT-07"]
    assert "Tent 9 is pinned at place 1." in page
    assert 'name="pinBefore" value="TENT-07"' in page and 'id="undo-placing"' in page
    assert "data-focus" not in page, "the focus stays in the grid"
    before = {"undoable": "1", "pinBefore": ["TENT-07"], "positionBefore": ["1"]}
    assert 'id="grid-undo"' in mia.swap(TRY, GRID | before).text
    undone = mia.swap(
        NEW, form | before | {"pin": ["TENT-09", "TENT-07"], "position": ["1", "2"], "intent": "undo"}
    ).text
    assert re.findall(r'name="pin" value="([^"]+)"', undone) == ["TENT-07"]
    assert "undo-placing" not in undone and "The last step is undone." in undone


def test_buried_products_stand_by_themselves(mia: Merchandiser) -> None:
    page = mia.swap(TRY, GRID | {"bury": ["TENT-05", "GONE-1"]}).text
    assert "TENT-05" not in dict(cards(page))
    buried = page[page.index("<h3>Buried</h3>") :]
    assert "Tent 5" in buried and "7 sold in 90 days" in buried and 'value="remove:TENT-05"' in buried
    taken_out = mia.swap(NEW, {"term": "tent", "bury": ["TENT-05"], "intent": "remove:TENT-05"}).text
    assert "Tent 5 is taken out." in taken_out


def test_of_several_searches_one_is_chosen(mia: Merchandiser) -> None:
    several = GRID | {"otherTerms": "mug"}
    assert "<option selected>tent</option>" in mia.swap(TRY, several).text
    page = mia.swap(TRY, several | {"of": "mug"}).text
    assert [sku for sku, _ in cards(page)] == ["MUG-1"]
    assert cards(mia.swap(TRY, several | {"of": "other words"}).text)[0][0].startswith("TENT")


def test_the_pin_of_another_rule_is_named_as_such(app: Flask, indexing: SearchContext, mia: Merchandiser) -> None:
    with app.app_context():
        save_rule(
            indexing, mia.site_id, "tent", match=Match.STARTS_WITH.value, pins=[{"sku": "TENT-09", "position": 1}]
        )
    page = mia.swap(TRY, GRID).text
    assert cards(page)[0] == ("TENT-09", "1")
    assert page.count("Pinned by another rule") == 1


def test_a_search_without_results_and_one_that_is_sent_on_say_so(mia: Merchandiser) -> None:
    page = mia.swap(TRY, GRID | {"term": "zeppelin", "redirectUrl": "/c/ships"}).text
    assert "No product is found." in page
    assert "Shoppers go to" in page and "/c/ships" in page


def test_without_a_term_the_layout_is_kept_for_the_next_preview(mia: Merchandiser) -> None:
    answer = mia.swap(TRY, {"term": "", "layout": "grid"})
    assert answer.status_code == 400
    assert 'name="layout" value="grid"' in answer.text


def test_the_page_that_shoppers_would_see_is_of_what_is_in_the_form(mia: Merchandiser) -> None:
    page = mia.swap(TRY, {"term": "tent", "layout": "shop", "pin": "MUG-1", "position": "1", "bannerText": "Dry feet"})
    [srcdoc] = re.findall(r'srcdoc="([^"]*)"', page.text)
    shown = html.unescape(srcdoc)
    assert shown.index("Blue mug") < shown.index("Tent ")
    assert "Dry feet" in shown and "Results for “tent”" in shown
    assert "<script src=" not in shown


def test_the_page_that_shoppers_would_see_is_not_counted_as_a_search(app: Flask, mia: Merchandiser) -> None:
    mia.swap(TRY, {"term": "tent", "layout": "shop"})
    with app.app_context():
        assert db.session.query(SearchWordDay).count() == 0


def test_the_layout_is_in_the_address_and_stays_after_a_save(app: Flask, mia: Merchandiser) -> None:
    assert mia.get(f"{NEW}?term=tent&show=grid").value("layout") == "grid"
    assert mia.get(f"{NEW}?term=tent&show=other").value("layout") == "list"
    added = mia.post(NEW, {"term": "tent", "layout": "grid", "pin": "TENT-02", "position": "1"})
    assert added.location.endswith("?show=grid")
    saved = mia.post(
        added.location, {"term": "tent", "layout": "grid", "pin": "TENT-03", "position": "1", "revision": "1"}
    )
    assert saved.location.endswith("?show=grid")


def test_more_products_take_no_more_statements(app: Flask, mia: Merchandiser) -> None:
    mia.swap(TRY, GRID)
    with statements(app) as few:
        assert len(cards(mia.swap(TRY, GRID | {"term": "mug"}).text)) == 1
    with statements(app) as many:
        assert len(cards(mia.swap(TRY, GRID).text)) == 24
    assert len(many) == len(few)


@pytest.mark.parametrize("odd", [{"shown": "x"}, {"shown": "99999999"}, {"of": "x" * 9_000}, {"layout": "x"}])
def test_odd_fields_are_passed_over(mia: Merchandiser, odd: dict[str, str]) -> None:
    assert mia.swap(TRY, GRID | odd).status_code == 200
