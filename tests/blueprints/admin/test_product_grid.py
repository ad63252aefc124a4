"""The products of a category as a grid of pictures: places, margins, pins, undo, and the list beside it."""

from __future__ import annotations

import re
from html import unescape as html_of

import pytest
from flask import Flask

from app.blueprints.admin import product_order
from app.blueprints.admin.merchandising import category
from app.domain.catalogue.models import Product
from app.domain.merchandising.models import Node
from app.domain.orders.models import ProductSales
from app.domain.search.engine import SearchContext
from app.domain.search.index.rebuild import rebuild
from app.domain.sites.models import Site
from app.extensions import db
from app.transaction import transaction
from tests import searching
from tests.blueprints.admin.catalogue_client import Merchandiser, merchandiser
from tests.blueprints.admin.test_merchandising_category import form, ids, order, page, place_products
from tests.factories import make_product

__all__ = ["ids"]
MARGIN = re.compile(r"grid-margin[^>]*>([^<]*)<")


@pytest.fixture
def mia(app: Flask) -> Merchandiser:
    return merchandiser(app)


@pytest.fixture
def tents(app: Flask, mia: Merchandiser, ids: dict[str, int]) -> list[int]:
    """Thirty products that Camping takes by its rule; the shop by itself shows them in this order."""
    with app.app_context(), transaction():
        site = db.session.get_one(Site, mia.site_id)
        made = [make_product(site, name=f"Tent {n}", taxonomy_level_id="tents").id for n in range(1, 31)]
        db.session.get_one(Node, ids["camping"]).source_levels = ["tents"]
        db.session.add(ProductSales(product_id=made[4], site_id=site.id, units=7))
    return made


def sent(products: list[int], intent: str, **more: object) -> dict[str, object]:
    return form(level="tents", layout="grid", product=products, intent=intent) | more


def rows(html: str) -> list[int]:
    return [int(number) for number in re.findall(r'data-row="(\d+)"', html)]


def pinned(html: str) -> list[int]:
    return [int(number) for number in re.findall(r'name="product" value="(\d+)"', html)]


def test_the_grid_shows_what_is_in_order_and_what_follows(
    app: Flask, mia: Merchandiser, ids: dict[str, int], tents: list[int]
) -> None:
    [first] = place_products(app, mia.site_id, ids["camping"], 1)
    html = mia.fragment(page(ids["camping"], "?show=grid")).text
    assert pinned(html) == [first]
    assert rows(html) == [first, *tents[:24]]
    assert "6 further products follow" in html
    assert html.count("7 sold in 90 days") == 1
    more = mia.swap(page(ids["camping"]), sent([first], "more", further="24")).text
    assert rows(more) == [first, *tents]


def test_the_list_shows_what_is_placed_by_hand_and_then_what_the_rule_takes(
    mia: Merchandiser, ids: dict[str, int], tents: list[int]
) -> None:
    html = mia.fragment(page(ids["camping"])).text
    assert "0 placed by hand, 30 by the rule" in html and "No products yet" not in html
    assert re.findall(r'value="top:(\d+)"', html) == [str(id) for id in tents[:24]]
    assert "6 further products follow" in html
    pinned_first = mia.swap(page(ids["camping"]), sent([], f"top:{tents[3]}", layout="list", further="48")).text
    assert (rows(pinned_first), "1 placed by hand, 29 by the rule" in pinned_first) == ([tents[3]], True)
    assert "Show more" not in pinned_first


def test_a_rule_of_manufacturers_alone_is_a_rule(
    app: Flask, mia: Merchandiser, ids: dict[str, int], tents: list[int]
) -> None:
    with app.app_context(), transaction():
        db.session.get_one(Product, tents[0]).manufacturer = "Fern"
        node = db.session.get_one(Node, ids["camping"])
        node.source_levels, node.source_manufacturers = [], ["Fern"]
    assert "0 placed by hand, 1 by the rule" in mia.fragment(page(ids["camping"])).text


def test_the_number_of_more_products_than_are_compared_is_the_least_that_it_can_be(
    monkeypatch: pytest.MonkeyPatch, mia: Merchandiser, ids: dict[str, int], tents: list[int]
) -> None:
    for module in (category, product_order):
        monkeypatch.setattr(module, "MOST_COMPARED", 26)
    html = mia.swap(page(ids["camping"]), sent([], f"top:{tents[3]}")).text
    assert "1 placed by hand, 25 or more by the rule" in html
    assert "1 or more further products follow" in html


def test_a_margin_counts_the_places_against_the_order_of_the_shop(
    mia: Merchandiser, ids: dict[str, int], tents: list[int]
) -> None:
    html = mia.swap(page(ids["camping"]), sent([tents[1]], f"top:{tents[4]}")).text
    assert rows(html)[:6] == [tents[4], tents[1], tents[0], tents[2], tents[3], tents[5]]
    assert MARGIN.findall(html) == ["+4", "−2", "−1", "−1"]
    assert "Tent 5 is at place 1 of 2." in html


def test_a_product_is_pinned_where_it_is_dropped_and_saved_there(
    app: Flask, mia: Merchandiser, ids: dict[str, int], tents: list[int]
) -> None:
    html = mia.swap(page(ids["camping"]), sent(tents[:2], f"place:1:{tents[9]}")).text
    assert pinned(html) == [tents[0], tents[9], tents[1]]
    assert order(app, mia.site_id, ids["camping"]) == []
    last = mia.swap(page(ids["camping"]), sent(pinned(html), f"end:{tents[20]}")).text
    mia.swap(page(ids["camping"]), sent(pinned(last), ""))
    assert order(app, mia.site_id, ids["camping"]) == [tents[0], tents[9], tents[1], tents[20]]


def test_the_last_step_is_undone_though_the_page_had_moved_the_picture(
    mia: Merchandiser, ids: dict[str, int], tents: list[int]
) -> None:
    one, two, three = tents[:3]
    now = {"productsNow": f"{one} {two} {three}"}
    dragged = mia.swap(page(ids["camping"]), sent([three, one, two], f"place:0:{three}") | now)
    assert pinned(dragged.text) == [three, one, two]
    before = re.findall(r'name="productsBefore" value="([^"]*)"', dragged.text)
    undone = mia.swap(page(ids["camping"]), sent([three, one, two], "undo", productsBefore=before)).text
    assert pinned(undone) == [one, two, three]
    assert "undo-products" not in undone


def test_the_switch_changes_the_address_and_saving_keeps_the_grid(
    mia: Merchandiser, ids: dict[str, int], tents: list[int]
) -> None:
    here = page(ids["camping"])
    to_grid = mia.swap(here, sent(tents[:1], "show:grid", layout="list"))
    assert to_grid.headers["HX-Replace-Url"] == f"{here}?show=grid"
    assert "product-grid" in to_grid.text
    assert "Not saved yet" not in to_grid.text
    to_list = mia.swap(here, sent(tents[:1], "show:list"))
    assert to_list.headers["HX-Replace-Url"] == here
    assert "product-grid" not in to_list.text
    assert "product-grid" in mia.swap(here, sent(tents[:1], "")).text
    kept = mia.post(here, sent(tents[:2], "", revision="2"))
    assert kept.headers["Location"].endswith(f"{here}?show=grid")


def test_a_hidden_product_has_no_place_and_odd_numbers_change_nothing(
    app: Flask, mia: Merchandiser, ids: dict[str, int], tents: list[int]
) -> None:
    with app.app_context(), transaction():
        hidden = make_product(db.session.get_one(Site, mia.site_id), name="Hidden tent", enabled=False).id
    html = mia.swap(page(ids["camping"]), sent([hidden, tents[0]], "more", further="x", productsBefore="7 y")).text
    assert MARGIN.findall(html) == []
    for odd in ("place::7", "place:x:7", "end:", "top:²", "undo:4"):
        answer = mia.swap(page(ids["camping"]), sent(tents[:2], odd, further="99999999"))
        assert (answer.status_code, pinned(answer.text)) == (200, tents[:2]), odd


def test_without_scripts_the_buttons_answer_with_the_page(
    mia: Merchandiser, ids: dict[str, int], tents: list[int]
) -> None:
    answer = mia.post(page(ids["camping"]), sent(tents[:2], f"down:{tents[0]}"), 200)
    shown = [int(field["value"]) for field in answer.all("input") if field.get("name") == "product"]
    assert shown == [tents[1], tents[0]]


def test_a_product_in_order_is_moved_behind_the_others(
    mia: Merchandiser, ids: dict[str, int], tents: list[int]
) -> None:
    html = mia.swap(page(ids["camping"]), sent(tents[:3], f"end:{tents[0]}")).text
    assert pinned(html) == [tents[1], tents[2], tents[0]]
    assert "Tent 1 is at place 3 of 3." in html
    assert f'id="end-{tents[1]}"' in html


@pytest.fixture
def indexed(app: Flask, indexing: SearchContext, mia: Merchandiser, tents: list[int]) -> None:
    """The tents can be found by shoppers."""
    with app.app_context():
        assert rebuild(indexing, searching.request(indexing, mia.site_id))


def shop_page(text: str) -> str:
    [srcdoc] = re.findall(r'srcdoc="([^"]*)"', text)
    return html_of(srcdoc)


@pytest.mark.usefixtures("indexed")
def test_a_category_is_shown_as_shoppers_see_it_and_the_form_stays(
    mia: Merchandiser, ids: dict[str, int], tents: list[int]
) -> None:
    answer = mia.swap(page(ids["camping"]), sent(tents[:2], "show:shop", productsBefore=str(tents[0])))
    assert answer.headers["HX-Replace-Url"] == f"{page(ids['camping'])}?show=shop"
    assert pinned(answer.text) == tents[:2]
    assert 'name="productsBefore"' in answer.text and 'name="layout" value="shop"' in answer.text
    shown = shop_page(answer.text)
    assert ">Camping</h1>" in shown and "Tent 1" in shown
    assert "<script src=" not in shown
    assert ">Camping</h1>" in shop_page(mia.fragment(page(ids["camping"], "?show=shop")).text)


def test_a_hidden_category_has_no_page_to_show(
    app: Flask, mia: Merchandiser, ids: dict[str, int], tents: list[int]
) -> None:
    with app.app_context(), transaction():
        db.session.get_one(Node, ids["camping"]).enabled = False
    text = mia.swap(page(ids["camping"]), sent(tents[:1], "show:shop")).text
    assert "Shoppers do not see this category." in text
    assert "srcdoc" not in text and pinned(text) == tents[:1]


def test_without_an_index_the_grid_says_that_search_does_not_answer(
    mia: Merchandiser, ids: dict[str, int], tents: list[int]
) -> None:
    text = mia.swap(page(ids["camping"]), sent(tents[:1], "show:shop")).text
    assert "srcdoc" not in text and "Search does not answer" in text


@pytest.mark.usefixtures("indexed")
def test_a_collection_is_shown_as_shoppers_see_it_once_it_is_stored(mia: Merchandiser, tents: list[int]) -> None:
    new = "/admin/catalogue/collection/new"
    assert 'id="show-shop"' not in mia.fragment(new).text
    assert "srcdoc" not in mia.swap(new, {"intent": "show:shop", "name": "Summer", "enabled": "1"}).text
    stored = mia.post(new, {"name": "Summer", "enabled": "1", "product": tents[:1]}).location
    assert ">Summer</h1>" in shop_page(mia.fragment(f"{stored}?show=shop").text)
    mia.post(stored, {"name": "Summer", "product": tents[:1], "revision": "1"})
    assert "Shoppers do not see this collection." in mia.fragment(f"{stored}?show=shop").text
