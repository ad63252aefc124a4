"""Find, which Ctrl+K opens: pages and records, for those who may see them; and the page of keys."""

from __future__ import annotations

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.sites.accounts import Role
from app.domain.sites.models import Site, User
from app.extensions import db
from app.transaction import transaction
from tests import counted_searches
from tests.blueprints.admin.conftest import SignedIn
from tests.factories import (
    make_collection,
    make_location,
    make_order,
    make_page,
    make_product,
    make_rule,
    make_site,
    make_synonym,
    make_taxonomy,
)
from tests.fakes.clock import StoppedClock
from tests.page_client import PageClient, Reading
from tests.statements import statements

FIND = "/admin/find"
LEVELS = [{"levelId": "kitchen", "name": "Kitchen", "children": [{"levelId": "kettles", "name": "Kettles"}]}]


@pytest.fixture
def ids(app: Flask, site_id: int, clock: StoppedClock) -> dict[str, str]:
    """One of each kind that has “kettle” in it; another shop has them, too."""
    with app.app_context(), transaction():
        site, day = db.session.get_one(Site, site_id), clock.now().date()
        for one in (make_site("other.test"), site):
            make_taxonomy(one, LEVELS, active=True, id=f"kinds-{one.id}")
            product = make_product(one, "KET-1", name="Steel kettle")
            order = make_order(one, product, number=7, contact_name="Kit Kettlewell")
            synonym, rule = make_synonym(one, "kettle", "water boiler"), make_rule(one, "kettle")
            make_product(one, "POT-1", name="Pot", search_terms=["jug", "Kettle"])
            counted_searches.count(one.id, day, day, "electric kettle", 0, searches=3, found_nothing=3)
        return {
            "product": f"/admin/catalogue/product/{product.id}",
            "order": f"/admin/orders/{order.id}",
            "level": f"/admin/catalogue/taxonomy/kinds-{site.id}?level=kettles",
            "synonym": f"/admin/search/synonyms/{synonym.id}",
            "term": "/admin/search/terms?q=POT-1",
            "rule": f"/admin/search/ranking/{rule.id}",
            "failed search": "/admin/search/test?q=electric+kettle",
        }


def links(browser: PageClient, words: str, fragment: bool = True) -> list[str]:
    headers = {"HX-Request": "true"} if fragment else {}
    html = browser.client.get(FIND, query_string={"q": words}, base_url=browser.base, headers=headers).text
    found = html.partition('id="find-results"')[2].partition('class="help-line"')[0]
    return [link["href"] for link in Reading(found).all("a")]


def test_each_kind_is_found_by_its_words(ids: dict[str, str], signed_in: SignedIn) -> None:
    assert links(signed_in(Role.ADMIN), "kettle") == list(ids.values())


def test_an_order_is_found_by_its_number(ids: dict[str, str], signed_in: SignedIn) -> None:
    assert ids["order"] in links(signed_in(Role.ADMIN), "#7")


@pytest.mark.parametrize("words", ["order 7", "Order #7", "orders 7"])
def test_the_word_order_may_stand_before_its_number(ids: dict[str, str], signed_in: SignedIn, words: str) -> None:
    assert ids["order"] in links(signed_in(Role.ADMIN), words)


def test_collections_pages_users_and_locations_are_found(app: Flask, site_id: int, signed_in: SignedIn) -> None:
    ada, mia = signed_in(Role.ADMIN), signed_in()
    with app.app_context(), transaction():
        site = db.session.get_one(Site, site_id)
        collection, page = make_collection(site, name="Zebra stripes"), make_page(site, title="Zebra care")
        make_location(site, "zebra-1", display_name="Zebra Street")
        make_collection(make_site("other.test"), name="Zebra elsewhere")
        content = [f"/admin/catalogue/collection/{collection.id}", f"/admin/content/page/{page.id}"]
    assert links(ada, "zebra") == [*content, "/admin/pos/locations/zebra-1"]
    assert links(mia, "zebra") == content
    assert any(address.startswith("/admin/user/") for address in links(ada, "merchandiser@shop"))
    assert not any(address.startswith("/admin/user") for address in links(mia, "admin@shop"))


def test_users_are_found_whatever_the_case_of_their_letters(app: Flask, site_id: int, signed_in: SignedIn) -> None:
    ada = signed_in(Role.ADMIN)
    with app.app_context(), transaction():
        db.session.scalars(select(User).where(User.email.startswith("admin@"))).one().display_name = "Østen Åker"
    for words in ("østen", "ØSTEN", "åker"):
        assert any(address.startswith("/admin/user/") for address in links(ada, words)), words
    assert not any(address.startswith("/admin/user/") for address in links(ada, "%"))


@pytest.mark.parametrize(
    ("words", "address"),
    [
        ("z reports", "/admin/pos/reports"),
        ("worklist", "/admin/catalogue/taxonomy/worklist"),
        ("passkeys", "/admin/passkeys"),
        ("two-step", "/admin/two-step"),
        ("locations", "/admin/pos/settings"),
    ],
)
def test_pages_have_further_names(site_id: int, signed_in: SignedIn, words: str, address: str) -> None:
    assert links(signed_in(Role.ADMIN), words)[0] == address


def test_only_those_who_may_open_orders_read_of_them(site_id: int, signed_in: SignedIn) -> None:
    assert "Orders are found by" in signed_in(Role.ADMIN).client.get(f"{FIND}?q=zzz").text
    assert "Orders are found by" not in signed_in().client.get(f"{FIND}?q=zzz").text


def test_products_are_found_with_their_pictures(ids: dict[str, str], signed_in: SignedIn) -> None:
    html = signed_in(Role.ADMIN).client.get(f"{FIND}?q=kettle").text
    assert '<img class="thumb"' in html.partition(ids["product"])[2].partition("</a>")[0]


def test_merchandisers_find_no_orders_and_no_pages_of_admins(ids: dict[str, str], signed_in: SignedIn) -> None:
    mia = signed_in()
    assert links(mia, "kettle") == [address for kind, address in ids.items() if kind != "order"]
    assert "/admin/orders" not in links(mia, "orders") and "/admin/search/synonyms" in links(mia, "synonyms")
    assert "/admin/settings/system" not in links(mia, "system")


def test_pages_are_found_by_their_name_and_section(site_id: int, signed_in: SignedIn) -> None:
    ada = signed_in(Role.ADMIN)
    assert links(ada, "search settings")[0] == "/admin/settings/search"
    assert "/admin/settings/system" in links(ada, "SYSTEM")
    assert links(ada, "")[0] == "/admin/"


def test_without_javascript_it_is_a_page(ids: dict[str, str], signed_in: SignedIn) -> None:
    ada = signed_in(Role.ADMIN)
    page = ada.get(f"{FIND}?q=kettle")
    assert page.texts["h1"] == "Find" and page.value("q") == "kettle"
    assert links(ada, "kettle", fragment=False) == list(ids.values())
    assert "Nothing has “zzz” in its name." in ada.client.get(f"{FIND}?q=zzz").text


@pytest.mark.parametrize("words", ["%", "'", "x" * 500, "{{ 1 }}", "<b>"])
def test_whatever_is_typed_is_answered(site_id: int, signed_in: SignedIn, words: str) -> None:
    answer = signed_in(Role.ADMIN).client.get(FIND, query_string={"q": words})
    assert answer.status_code == 200 and "<b>" not in answer.text.partition("<main")[2]


def test_it_takes_the_same_statements_however_much_there_is(
    app: Flask, ids: dict[str, str], site_id: int, clock: StoppedClock, signed_in: SignedIn
) -> None:
    ada, day = signed_in(Role.ADMIN), clock.now().date()
    with statements(app) as few:
        links(ada, "kettle")
    with app.app_context(), transaction():
        site = db.session.get_one(Site, site_id)
        for number in range(6):
            make_order(site, make_product(site, name=f"Kettle {number}"), contact_name="Kettle")
            make_rule(site, f"kettle {number}")
            make_product(site, name=f"Pot {number}", search_terms=["kettle"])
            counted_searches.count(site_id, day, day, f"kettle {number}", 0, searches=1, found_nothing=1)
            make_synonym(site, f"kettle {number}", f"boiler {number}")
    with statements(app) as many:
        assert len(links(ada, "kettle")) == 31
    assert len(few) == len(many)


def test_the_keys_are_a_page_and_a_dialog(site_id: int, signed_in: SignedIn) -> None:
    mia = signed_in()
    assert mia.get("/admin/keys").texts["h1"] == "Keyboard shortcuts"
    dialog = mia.client.get("/admin/keys", headers={"HX-Request": "true"}).text
    assert "<html" not in dialog and "Keyboard shortcuts" in dialog and "Ctrl+K" in dialog
    assert "<dt><kbd>F2</kbd> </dt><dd>Rename</dd>" in dialog, "Enter opens a category"


def test_what_one_would_like_to_do_is_found_too(signed_in: SignedIn) -> None:
    html = signed_in(Role.ADMIN).client.get(f"{FIND}?q=invite+a+colleague").text
    assert 'href="/admin/help/task/invite-colleague"' in html
    assert "/admin/help/task/" not in signed_in().client.get(f"{FIND}?q=invite+a+colleague").text
