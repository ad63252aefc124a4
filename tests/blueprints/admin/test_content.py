from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.catalogue.models import Collection, CollectionEntry, Page
from app.extensions import db
from tests.blueprints.admin.catalogue_client import Merchandiser, merchandiser
from tests.blueprints.admin.test_products import stored
from tests.page_client import Reading

PAGES = "/admin/content"
COLLECTIONS = "/admin/catalogue"


@pytest.fixture
def mia(app: Flask) -> Merchandiser:
    return merchandiser(app)


def only(app: Flask, kind: type[Any]) -> Any:
    with app.app_context():
        return db.session.scalars(select(kind)).one()


def test_a_page_is_added_cleaned_saved_and_deleted(app: Flask, mia: Merchandiser) -> None:
    mia.get(f"{PAGES}/page/new")
    path = mia.post(
        f"{PAGES}/page/new", {"title": "About us", "body": "<p>Hi<script>x</script>", "enabled": "on"}
    ).location
    assert (only(app, Page).seo_name, only(app, Page).body) == ("about-us", "<p>Hi</p>")
    mia.get(path)
    assert "Saved." in mia.swap(path, {"title": "About", "revision": "1"}).text
    assert not only(app, Page).enabled
    assert mia.swap(path, {"title": "Mine", "revision": "1"}).status_code == 409
    stale = mia.post(path, {"title": "Mine", "revision": "1"}, 409)
    assert (stale.value("title"), stale.value("revision")) == ("Mine", "2")
    mia.post(f"{path}/delete", {})
    mia.get(path, 404)


def test_texts_within_the_limit_are_saved_in_any_script(app: Flask, mia: Merchandiser) -> None:
    mia.get(f"{PAGES}/page/new")
    mia.post(f"{PAGES}/page/new", {"title": "О нас", "seoName": "about", "body": "я" * 60_000})
    assert only(app, Page).body.count("я") == 60_000
    mia.get(f"{COLLECTIONS}/collection/new")
    path = mia.post(f"{COLLECTIONS}/collection/new", {"name": "Gifts", "description": "礼" * 49_000}).location
    mia.get(path)
    mia.post(path, {"name": "Gifts", "description": "物" * 49_000, "revision": "1"})
    assert only(app, Collection).description.count("物") == 49_000


def test_a_refused_page_keeps_what_was_typed(mia: Merchandiser) -> None:
    mia.get(f"{PAGES}/page/new")
    page = mia.post(f"{PAGES}/page/new", {"title": "", "seoName": "Bad Name", "canonicalUrl": "javascript:x"}, 400)
    assert page.value("seoName") == "Bad Name"
    assert len([field for field in page.all("input") if field.get("aria-invalid")]) == 3


def test_a_collection_takes_products_from_a_lookup_and_orders_them(app: Flask, mia: Merchandiser) -> None:
    a, b = stored(app, sku="A-1", name="Axe"), stored(app, sku="B-1", name="Boots")
    mia.get(f"{COLLECTIONS}/collection/new")
    found = mia.fragment(f"{COLLECTIONS}/products/lookup?lookup=a-1").text
    assert f'value="add:{a}"' in found
    rows = mia.swap(f"{COLLECTIONS}/collection/new", {"product": [b], "intent": f"add:{a}"}).text
    assert rows.index("Boots") < rows.index("Axe")
    rows = mia.swap(f"{COLLECTIONS}/collection/new", {"product": [b, a], "intent": f"up:{a}"}).text
    assert rows.index("Axe") < rows.index("Boots")
    made = mia.post(f"{COLLECTIONS}/collection/new", {"name": "Gifts", "product": [a, b], "enabled": "on"})
    mia.get(made.location)
    mia.swap(made.location, {"name": "Gifts", "product": [b, a], "enabled": "on", "revision": "1"})
    with app.app_context():
        order = db.session.scalars(select(CollectionEntry.product_id).order_by(CollectionEntry.position)).all()
    assert order == [b, a]
    stale = {"name": "Gifts", "product": [a], "enabled": "on", "revision": "1"}
    assert "1 product<" in mia.swap(made.location, stale).text
    mia.swap(made.location, stale | {"revision": "2"})
    assert "the shop keeps its 1 product." in mia.get(made.location).texts["p"]


def test_without_javascript_the_buttons_of_a_collection_keep_the_form(app: Flask, mia: Merchandiser) -> None:
    a = stored(app, sku="A-1", name="Axe")
    mia.get(f"{COLLECTIONS}/collection/new")
    page = mia.post(f"{COLLECTIONS}/collection/new", {"name": "Typed", "intent": f"add:{a}"}, 200)
    assert (page.value("name"), page.value("product")) == ("Typed", str(a))
    with app.app_context():
        assert db.session.scalars(select(Collection)).all() == []


def test_a_list_of_skus_finds_its_products_and_one_button_adds_them_all(app: Flask, mia: Merchandiser) -> None:
    a, b, c = (stored(app, sku=sku, name=name) for sku, name in (("A-1", "Axe"), ("B-1", "Boots"), ("C-1", "Cup")))
    new = f"{COLLECTIONS}/collection/new"
    mia.get(new)
    found = mia.fragment(f"{COLLECTIONS}/products/lookup?lookup=C-1%2C+A-1%3BX-9%0AC-1").text
    assert f'value="add:{c} {a}"' in found and "Add all 2" in found
    assert "No product has the SKU X-9." in found and "Boots" not in found
    assert "Add all" not in mia.fragment(f"{COLLECTIONS}/products/lookup?lookup=C-1+Axe").text, "words, no list"
    answer = mia.swap(new, {"product": [a, b], "intent": f"add:{c} {a}"})
    assert [one["value"] for one in Reading(answer.text).all("input") if one.get("name") == "product"] == [
        str(a),
        str(b),
        str(c),
    ]
    assert "2 products are in the list, 3 in all." in answer.text


def test_what_a_list_of_skus_leaves_out_is_said(app: Flask, mia: Merchandiser) -> None:
    stored(app, sku="A-1", name="Axe")
    mia.get(f"{COLLECTIONS}/collection/new")

    def found(*skus: str) -> str:
        answer: str = mia.fragment(f"{COLLECTIONS}/products/lookup?lookup={'%2C'.join(skus)}").text
        return answer

    assert "No product has the SKU X-1, X-2." in found("X-1", "X-2"), "none of a list is known"
    one = found("A-1", "X-2")
    assert "No product has the SKU X-2." in one and "Axe" in one
    assert "left out" not in one
    many = found("A-1", *(f"X{number}" for number in range(202)))
    assert "3 further SKUs left out: a list has at most 200." in many
    assert "cut" not in many
    stored(app, sku="B", name="Boots")
    cut = found("A-1", "C" * 3_994, "BEE")  # The browser cut what followed the B.
    assert "The list is cut at 4,000 characters" in cut and "Boots" not in cut
    assert "A-1, " not in cut and "B." not in cut, "half a SKU is neither found nor unknown"


def test_words_with_a_comma_are_no_list(app: Flask, mia: Merchandiser) -> None:
    stored(app, sku="A-1", name="Axe, large")
    mia.get(f"{COLLECTIONS}/collection/new")
    found = mia.fragment(f"{COLLECTIONS}/products/lookup?lookup=axe%2C+large").text
    assert "Axe, large" in found and "No product" not in found


def test_without_javascript_products_are_looked_up_by_a_button(app: Flask, mia: Merchandiser) -> None:
    a, b = stored(app, sku="A-1", name="Axe"), stored(app, sku="B-1", name="Boots")
    mia.get(f"{COLLECTIONS}/collection/new")
    mia.post(f"{COLLECTIONS}/collection/new", {"name": "Typed", "lookup": "A-1 B-1", "intent": "look"}, 200)
    sent = {"name": "Typed", "product": [a], "lookup": "boots", "intent": "look"}
    page = mia.post(f"{COLLECTIONS}/collection/new", sent, 200)
    assert [one["value"] for one in page.all("button") if one.get("value", "").startswith("add:")] == [f"add:{b}"]
    assert (page.value("name"), page.value("product")) == ("Typed", str(a))


@pytest.mark.parametrize("intent", ["add:", "add:x", "add:99999999999", "up:1", "nonsense", "remove:5"])
def test_strange_buttons_change_nothing(app: Flask, mia: Merchandiser, intent: str) -> None:
    a = stored(app, sku="A-1", name="Axe")
    mia.get(f"{COLLECTIONS}/collection/new")
    assert mia.swap(f"{COLLECTIONS}/collection/new", {"product": [a, "x"], "intent": intent}).text.count("Axe") > 0


def test_another_shops_products_are_not_taken(app: Flask, mia: Merchandiser) -> None:
    a = stored(app, sku="A-1", name="Axe")
    theirs = merchandiser(app, "other.localhost")
    theirs.get(f"{COLLECTIONS}/collection/new")
    assert "Axe" not in theirs.fragment(f"{COLLECTIONS}/products/lookup?lookup=axe").text
    assert theirs.swap(f"{COLLECTIONS}/collection/new", {"name": "Mine", "product": [a]}).status_code == 400
    assert "Axe" not in theirs.swap(f"{COLLECTIONS}/collection/new", {"intent": f"add:{a}"}).text


@pytest.mark.parametrize("path", [f"{PAGES}/pages", f"{COLLECTIONS}/collections"])
@pytest.mark.parametrize("query", ["", "?q=zzz", "?p=7", "?q=%25&p=x", "?q=%3Cscript%3E"])
def test_lists_answer_whatever_is_asked(mia: Merchandiser, path: str, query: str) -> None:
    mia.get(f"{path}{query}")
    assert mia.fragment(f"{path}{query}").status_code == 200
