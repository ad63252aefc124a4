"""The page of search terms, its JSON, and that both follow the same rules as the product editor."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import event, select
from werkzeug.test import TestResponse

from app.domain.catalogue.models import Product
from app.domain.search.models import OutboxEntry
from app.domain.search_statistics.models import SearchWordDay
from app.domain.sites.models import AuditEntry, Site
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.admin.catalogue_client import Merchandiser, merchandiser
from tests.factories import make_product
from tests.fakes.clock import StoppedClock

XSS = '"><script>alert(1)</script>'
TERMS = "/admin/search/terms"


@pytest.fixture
def mia(app: Flask) -> Merchandiser:
    return merchandiser(app)


def stored(app: Flask, sku: str, name: str, *terms: str) -> int:
    with app.app_context(), transaction():
        site = db.session.scalars(select(Site).order_by(Site.id)).first()
        return make_product(site, sku, name=name, search_terms=list(terms)).id


def terms_of(app: Flask, product_id: int) -> list[str]:
    with app.app_context():
        return db.session.get(Product, product_id).search_terms


def send(mia: Merchandiser, method: str, path: str, body: Any) -> TestResponse:
    headers = {"X-CSRFToken": mia.pages.token}
    return mia.pages.client.open(path, method=method, json=body, base_url=mia.pages.base, headers=headers)


def test_a_term_is_added_to_the_product_of_a_sku(app: Flask, mia: Merchandiser) -> None:
    tent = stored(app, "T-1", "Ridge tent")
    page = mia.get(f"{TERMS}?term=shelter&product=T-1")
    assert (page.value("term"), page.value("product")) == ("shelter", "T-1")
    answer = mia.swap(TERMS, {"term": " Shelter ", "product": "T-1"}).text
    assert "now finds Ridge tent" in answer and "just-changed" in answer
    assert terms_of(app, tent) == ["Shelter"]
    assert "already" in mia.swap(TERMS, {"term": "shelter", "product": "ridge tent"}).text
    assert terms_of(app, tent) == ["Shelter"]


def test_without_javascript_the_list_shows_what_was_added(app: Flask, mia: Merchandiser) -> None:
    stored(app, "T-1", "Ridge tent")
    answer = mia.post(TERMS, {"term": "shelter", "product": "T-1"})
    assert answer.location == f"{TERMS}?q=T-1"


@pytest.mark.parametrize(
    ("term", "product", "said"),
    [
        ("", "T-1", "Enter the word"),
        ("a,b", "T-1", "comma"),
        ("x" * 51, "T-1", "51 characters"),
        ("shelter", "", "Find the product"),
        ("shelter", "nothing like it", "No product has"),
        ("shelter", "tent", "More than one product"),
        (XSS, XSS, "No product has"),
    ],
)
def test_a_term_that_cannot_be_added_says_why(
    app: Flask, mia: Merchandiser, term: str, product: str, said: str
) -> None:
    stored(app, "T-1", "Ridge tent")
    stored(app, "T-2", "Dome tent")
    answer = mia.swap(TERMS, {"term": term, "product": product})
    assert answer.status_code == 400 and said in answer.text
    assert "<script>alert" not in answer.text
    mia.post(TERMS, {"term": term, "product": product}, 400)


def test_without_javascript_one_of_several_products_is_chosen_from_a_list(app: Flask, mia: Merchandiser) -> None:
    ridge, dome = stored(app, "T-1", "Ridge tent"), stored(app, "T-2", "Dome tent")
    mia.get(TERMS)
    page = mia.post(TERMS, {"term": "shelter", "product": "tent"}, 400)
    assert [tag["value"] for tag in page.all("input") if tag.get("name") == "chosen"] == ["T-2", "T-1"]
    mia.post(TERMS, {"term": "shelter", "product": "tent", "chosen": "T-2"})
    assert (terms_of(app, ridge), terms_of(app, dome)) == ([], ["shelter"])


def test_who_comes_with_a_term_types_the_product_next(mia: Merchandiser) -> None:
    def focused(address: str) -> list[str]:
        return [tag["name"] for tag in mia.get(address).all("input") if "data-focus" in tag]

    assert focused(f"{TERMS}?term=shelter") == ["product"]
    assert focused(f"{TERMS}?term=shelter&product=T-1") == focused(TERMS) == []


def test_the_list_shows_chips_and_narrows_by_term(app: Flask, mia: Merchandiser) -> None:
    stored(app, "T-1", "Ridge tent", "shelter", XSS)
    stored(app, "B-1", "Boots", "hiking shoes")
    mia.get(TERMS)
    found = mia.fragment(f"{TERMS}?q=shelter").text
    assert "Ridge tent" in found and "Boots" not in found and "<script>alert" not in found
    assert "No product with search terms matches" in mia.fragment(f"{TERMS}?q=%25%25").text
    assert "Nothing on page 9" in mia.fragment(f"{TERMS}?p=9").text


def test_a_page_without_terms_says_what_they_are_for(mia: Merchandiser) -> None:
    assert "No search terms yet" in mia.fragment(TERMS).text


def test_a_row_is_edited_as_one_box_and_an_empty_box_removes_all(app: Flask, mia: Merchandiser) -> None:
    tent = stored(app, "T-1", "Ridge tent", "shelter", "bivvy")
    mia.get(TERMS)
    assert "shelter, bivvy" in mia.fragment(f"{TERMS}/{tent}?edit=1").text
    assert "shelter, bivvy" not in mia.fragment(f"{TERMS}/{tent}").text
    assert mia.swap(f"{TERMS}/{tent}", {"terms": "shelter, Tipi,,tipi ", "read": "shelter, bivvy"}).status_code == 200
    assert terms_of(app, tent) == ["shelter", "Tipi"]
    assert "None any more" in mia.swap(f"{TERMS}/{tent}", {"terms": "  "}).text
    assert terms_of(app, tent) == []


def test_a_row_works_without_javascript(app: Flask, mia: Merchandiser) -> None:
    tent = stored(app, "T-1", "Ridge tent", "shelter")
    page = mia.get(f"{TERMS}?edit={tent}")
    assert page.value("read") == "shelter"
    mia.post(f"{TERMS}/{tent}", {"terms": "x" * 51}, 400)
    mia.post(f"{TERMS}/{tent}", {"terms": "bivvy"})
    assert terms_of(app, tent) == ["bivvy"]


def test_terms_that_somebody_else_changed_stand_beside_what_was_typed(app: Flask, mia: Merchandiser) -> None:
    tent = stored(app, "T-1", "Ridge tent", "shelter", "bivvy")
    mia.get(TERMS)
    answer = mia.swap(f"{TERMS}/{tent}", {"terms": "tipi", "read": "shelter"})
    assert answer.status_code == 409
    assert "Stored now: shelter, bivvy" in answer.text and "tipi" in answer.text
    assert terms_of(app, tent) == ["shelter", "bivvy"]


def test_what_a_term_would_change_can_be_tried_unsaved(app: Flask, mia: Merchandiser) -> None:
    tent = stored(app, "T-1", "Ridge tent")
    mia.get(TERMS)
    assert mia.swap(f"{TERMS}/try", {"term": "", "product": "T-1"}).status_code == 400
    assert mia.swap(f"{TERMS}/try", {"term": "shelter", "product": "T-1"}).status_code == 200
    assert terms_of(app, tent) == []


def test_searches_that_found_nothing_fill_the_form(app: Flask, mia: Merchandiser, clock: StoppedClock) -> None:
    def counted(word: str, days_ago: int, times: int) -> SearchWordDay:
        day = clock.now().date() - timedelta(days=days_ago)
        sums = {"searches": times + 1, "found_nothing": times, "last_result_count": 0}
        return SearchWordDay(site_id=mia.site_id, day=day, word=word, **sums)

    with app.app_context(), transaction():
        db.session.add_all([counted("brolly", 29, 4), counted("brolly", 1, 3), counted("wellies", 30, 9)])
        db.session.add_all([counted("", 1, 99), counted("tent", 1, 0), counted(XSS.lower()[:90], 2, 1)])
    page = mia.get(TERMS)
    links = [link.get("href") for link in page.all("a")]
    assert f"{TERMS}?term=brolly#f-product" in links
    assert not any("wellies" in (href or "") for href in links)
    html = mia.pages.client.get(TERMS, base_url=mia.pages.base).text
    assert "7 times" in html and "<script>alert" not in html


def test_of_many_searches_that_found_nothing_the_most_common_are_in_sight(
    app: Flask, mia: Merchandiser, clock: StoppedClock
) -> None:
    def counted(number: int) -> SearchWordDay:
        sums = {"searches": 90 - number, "found_nothing": 90 - number, "last_result_count": 0}
        word = f"word {number}"
        return SearchWordDay(site_id=mia.site_id, day=clock.now().date(), word=word, **sums)

    def page() -> str:
        return mia.pages.client.get(TERMS, base_url=mia.pages.base).text

    with app.app_context(), transaction():
        db.session.add_all(map(counted, range(15)))
    assert "Show all" not in page()
    with app.app_context(), transaction():
        db.session.add_all(map(counted, range(15, 60)))
    in_sight, rest = page().split('<details class="no-results-more"')
    assert ">word 14<" in in_sight and ">word 15<" in rest and "Show 35 more" in rest
    assert "60 searches in 30 days" in in_sight
    link = re.search(r'href="([^"]+)">Show all 60<', rest)
    assert link is not None
    pages = [mia.fragment(f"{unescape(link[1])}&p={number}").text for number in (1, 2)]
    assert all(any(f">word {number}<" in page for page in pages) for number in range(60))


def test_while_searches_are_not_counted_the_list_says_so(app: Flask, mia: Merchandiser) -> None:
    with app.app_context(), transaction():
        change_settings(mia.site_id, {"search-term-tracking-enabled": False})
    assert "Switch counting on" in mia.pages.client.get(TERMS, base_url=mia.pages.base).text


def test_a_page_of_many_products_costs_few_statements(app: Flask, mia: Merchandiser) -> None:
    for number in range(30):
        stored(app, f"P-{number}", f"Product {number}", "shelter", f"term {number}")
    with app.app_context():
        engine = db.engine
    statements: list[str] = []
    event.listen(engine, "before_cursor_execute", lambda *a: statements.append(a[2]))
    assert mia.fragment(TERMS).status_code == 200
    assert len([one for one in statements if one.startswith("SELECT")]) <= 8


# The JSON endpoints


def test_the_lookup_gives_at_most_ten_products_with_their_terms(app: Flask, mia: Merchandiser) -> None:
    tent = stored(app, "T-1", "Ridge tent", "shelter")
    for number in range(12):
        stored(app, f"D-{number}", f"Dome tent {number}")
    answer = mia.pages.client.get(f"{TERMS}/rest/products?q=RIDGE", base_url=mia.pages.base)
    assert answer.json == {
        "products": [
            {"id": str(tent), "sku": "T-1", "name": "Ridge tent", "seoName": "t-1"}
            | {"searchTerms": ["shelter"], "revision": 1}
        ]
    }
    for query, count in (("tent", 10), ("%", 0), ("", 0), ("d-11", 1)):
        answer = mia.pages.client.get(f"{TERMS}/rest/products", query_string={"q": query}, base_url=mia.pages.base)
        assert len(answer.json["products"]) == count


def test_terms_are_replaced_and_added_and_saving_reindexes(app: Flask, mia: Merchandiser) -> None:
    tent = stored(app, "T-1", "Ridge tent", "shelter")
    with app.app_context(), transaction():
        db.session.query(OutboxEntry).delete()
    put = send(mia, "PUT", f"{TERMS}/rest/{tent}", {"terms": [" bivvy ", "BIVVY", "tipi"]})
    assert (put.status_code, put.json) == (
        200,
        {"productId": str(tent), "terms": ["bivvy", "tipi"], "revision": 2},
    )
    add = send(mia, "POST", f"{TERMS}/rest/{tent}/add", {"terms": ["Tipi", "yurt"]})
    assert add.json["terms"] == ["bivvy", "tipi", "yurt"]
    assert send(mia, "PUT", f"{TERMS}/rest/{tent}", {"terms": []}).json["terms"] == []
    with app.app_context():
        assert {entry.record_id for entry in db.session.scalars(select(OutboxEntry))} == {tent}
        assert len(db.session.scalars(select(AuditEntry).where(AuditEntry.subject_id == str(tent))).all()) == 3


@pytest.mark.parametrize(("method", "path"), [("PUT", ""), ("POST", "/add")])
def test_terms_are_changed_only_at_the_revision_that_is_given(
    app: Flask, mia: Merchandiser, method: str, path: str
) -> None:
    tent = stored(app, "T-1", "Ridge tent", "shelter")
    address = f"{TERMS}/rest/{tent}{path}"
    first = send(mia, method, address, {"terms": ["bivvy"], "revision": 1})
    assert (first.status_code, first.json["revision"]) == (200, 2)
    stale = send(mia, method, address, {"terms": ["tipi"], "revision": 1})
    assert (stale.status_code, stale.json["code"], stale.json["currentRevision"]) == (409, "stale_revision", 2)
    assert "Read it again, then send your change with revision 2." in stale.json["detail"]
    assert "tipi" not in terms_of(app, tent)
    assert send(mia, method, address, {"terms": ["tipi"], "revision": 2}).status_code == 200
    assert send(mia, method, address, {"terms": ["yurt"]}).status_code == 200


@pytest.mark.parametrize("revision", ["1", 1.0, True])
def test_a_revision_is_a_whole_number(app: Flask, mia: Merchandiser, revision: Any) -> None:
    tent = stored(app, "T-1", "Ridge tent", "shelter")
    answer = send(mia, "PUT", f"{TERMS}/rest/{tent}", {"terms": [], "revision": revision})
    assert (answer.status_code, answer.json["errors"][0]["pointer"]) == (400, "#/revision")


@pytest.mark.parametrize("body", [{}, {"terms": "shelter"}, {"terms": None}, {"terms": ["a"], "more": 1}, [], "x"])
def test_what_is_no_list_of_terms_is_refused(app: Flask, mia: Merchandiser, body: Any) -> None:
    tent = stored(app, "T-1", "Ridge tent", "shelter")
    for method, path in (("PUT", f"{TERMS}/rest/{tent}"), ("POST", f"{TERMS}/rest/{tent}/add")):
        answer = send(mia, method, path, body)
        assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert terms_of(app, tent) == ["shelter"]


def test_every_bad_term_is_named_by_its_place(app: Flask, mia: Merchandiser) -> None:
    tent = stored(app, "T-1", "Ridge tent")
    answer = send(mia, "POST", f"{TERMS}/rest/{tent}/add", {"terms": ["good", "a,b", 7, "x" * 51, "left\u202eright"]})
    assert [error["pointer"] for error in answer.json["errors"]] == [f"#/terms/{place}" for place in (1, 2, 3, 4)]


def test_a_product_of_another_site_is_not_found(app: Flask, mia: Merchandiser) -> None:
    other = merchandiser(app, "other.localhost")
    tent = stored(app, "T-1", "Ridge tent", "shelter")
    assert other.site_id != mia.site_id
    for method, path in (("PUT", f"{TERMS}/rest/{tent}"), ("POST", f"{TERMS}/rest/{tent}/add")):
        assert send(other, method, path, {"terms": ["x"]}).status_code == 404
    assert send(mia, "PUT", f"{TERMS}/rest/999999", {"terms": []}).status_code == 404


# One set of rules, wherever terms are written

LISTS = [
    (["shelter", " Shelter ", "bivvy"], True),
    ([f"term {number}" for number in range(50)], True),
    ([f"term {number}" for number in range(51)], False),
    (["x" * 50], True),
    (["good", "x" * 51], False),
    (["Straße", "STRASSE", "strasse"], True),
    (["right\u202eleft"], False),
    (["", "  "], True),
    (["tea\n", "\r\ncup"], True),
    (["tea\ncup"], False),
    (["good", "tea\r\ncup"], False),
]


@pytest.mark.parametrize(("terms", "is_good"), LISTS)
def test_the_rules_are_the_same_in_the_editor_on_the_page_and_in_json(
    app: Flask, mia: Merchandiser, terms: list[str], is_good: bool
) -> None:
    box = ", ".join(terms)
    editor, page, rest, more = (stored(app, f"S-{number}", f"Tent {number}", "old") for number in range(4))
    mia.get(TERMS)
    typed = {"name": "Tent 0", "sku": "S-0", "price": "12.50", "enabled": "on", "revision": "1", "searchTerms": box}
    said_by_editor = mia.swap(f"/admin/catalogue/product/{editor}", typed)
    said_by_page = mia.swap(f"{TERMS}/{page}", {"terms": box})
    said_by_rest = send(mia, "PUT", f"{TERMS}/rest/{rest}", {"terms": terms})
    assert terms_of(app, editor) == terms_of(app, page) == terms_of(app, rest)
    assert (terms_of(app, rest) != ["old"]) is is_good
    assert (said_by_page.status_code, said_by_rest.status_code) == ((200, 200) if is_good else (400, 400))
    for error in [] if is_good else said_by_rest.json["errors"]:
        words = error["message"].split("”")[-1].strip()
        assert words in said_by_editor.text and words in said_by_page.text
    send(mia, "POST", f"{TERMS}/rest/{more}/add", {"terms": terms})
    expected = ["old", *(term for term in terms_of(app, rest) if term != "old")]
    assert terms_of(app, more) == (expected if len(expected) <= 50 else ["old"])
