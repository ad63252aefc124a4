"""Undo in the messages of successes, where the activity of search has it."""

from __future__ import annotations

import re

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.catalogue.models import Product
from app.domain.changes.history import undoable_change
from app.domain.relevance.models import GoldenSearch, SearchRule, Synonym
from app.domain.sites.models import Site
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.admin.catalogue_client import Merchandiser, merchandiser
from tests.factories import make_product, make_rule

SEARCH = "/admin/search"
UNDO = re.compile(r'action="(/admin/search/activity/\d+/undo)".*?name="back" value="([^"]*)"', re.DOTALL)


@pytest.fixture
def mia(app: Flask) -> Merchandiser:
    found = merchandiser(app)
    with app.app_context(), transaction():
        make_product(db.session.get_one(Site, found.site_id), "MUG-1", name="Mug")
    return found


def page(mia: Merchandiser, path: str) -> str:
    return mia.pages.client.get(path, base_url=mia.pages.base).text


def undo(mia: Merchandiser, html: str) -> str:
    """Press the Undo of a message; the path that follows."""
    found = UNDO.search(html)
    assert found, html
    return mia.post(found[1], {"back": found[2]}).headers["Location"]


def stored(app: Flask, model: type) -> list:
    with app.app_context():
        return list(db.session.scalars(select(model)))


def test_a_rule_that_was_added_goes_and_one_that_was_deleted_comes_back(app: Flask, mia: Merchandiser) -> None:
    form = {"term": "mug", "redirectUrl": "/basket"}
    mia.get(f"{SEARCH}/ranking/new")
    address = mia.post(f"{SEARCH}/ranking/new", form).headers["Location"]
    assert undo(mia, page(mia, address)) == f"{SEARCH}/ranking"
    assert stored(app, SearchRule) == []
    mia.post(f"{SEARCH}/ranking/new", form)
    page(mia, "/admin/password")
    (rule,) = stored(app, SearchRule)
    mia.post(f"{SEARCH}/ranking/{rule.id}/delete", {"revision": rule.revision})
    undo(mia, page(mia, f"{SEARCH}/ranking"))
    assert [one.term for one in stored(app, SearchRule)] == ["mug"]


def test_a_rule_saved_in_place_has_undo_beside_the_message(app: Flask, mia: Merchandiser) -> None:
    with app.app_context(), transaction():
        rule_id = make_rule(db.session.get_one(Site, mia.site_id), "mug", redirect_url="/basket").id
    mia.get(f"{SEARCH}/ranking/{rule_id}")
    form = {"term": "mug", "redirectUrl": "/search?q=cup", "revision": 1}
    html = mia.swap(f"{SEARCH}/ranking/{rule_id}", form).text
    address = re.search(r'hx-post="(/admin/search/activity/\d+/undo[^"]*)"', html)
    assert address, html
    answer = mia.swap(address[1].replace("&amp;", "&"), {})
    assert answer.headers["HX-Redirect"] == f"{SEARCH}/ranking/{rule_id}"
    assert [one.redirect_url for one in stored(app, SearchRule)] == ["/basket"]


def test_a_rule_paused_in_the_list_says_so_and_has_undo(app: Flask, mia: Merchandiser) -> None:
    with app.app_context(), transaction():
        rule_id = make_rule(db.session.get_one(Site, mia.site_id), "mug", redirect_url="/basket").id
    mia.get(f"{SEARCH}/ranking")
    html = mia.swap(f"{SEARCH}/ranking/{rule_id}/pause", {}).text
    flashes = html.partition('id="flashes"')[2]
    assert "Paused. Shoppers see the usual results for “mug” in a moment." in flashes
    assert undo(mia, flashes) == f"{SEARCH}/ranking"
    assert [one.enabled for one in stored(app, SearchRule)] == [True]


def test_synonyms_golden_searches_and_terms_are_undone_from_their_messages(app: Flask, mia: Merchandiser) -> None:
    mia.get(f"{SEARCH}/synonyms")
    mia.post(f"{SEARCH}/synonyms", {"type": "EQUIVALENT", "words": "mug, cup"})
    undo(mia, page(mia, f"{SEARCH}/synonyms"))
    assert stored(app, Synonym) == []
    page(mia, "/admin/password")
    mia.post(f"{SEARCH}/golden", {"query": "mug", "sku": "MUG-1", "within": "5"})
    undo(mia, page(mia, f"{SEARCH}/golden"))
    assert stored(app, GoldenSearch) == []
    page(mia, "/admin/password")
    mia.post(f"{SEARCH}/terms", {"term": "beaker", "product": "MUG-1"})
    undo(mia, page(mia, f"{SEARCH}/terms"))
    assert [one.search_terms for one in stored(app, Product)] == [[]]


def test_terms_saved_in_a_row_have_undo_there_and_not_where_nothing_changed(app: Flask, mia: Merchandiser) -> None:
    (product,) = stored(app, Product)
    mia.get(f"{SEARCH}/terms")
    html = mia.swap(f"{SEARCH}/terms/{product.id}", {"terms": "beaker"}).text
    assert not UNDO.search(mia.swap(f"{SEARCH}/terms/{product.id}", {"terms": "beaker"}).text)
    undo(mia, html)
    assert [one.search_terms for one in stored(app, Product)] == [[]]


def test_a_message_offers_no_undo_of_what_another_user_did(app: Flask, mia: Merchandiser) -> None:
    with app.app_context(), transaction():
        rule_id = make_rule(db.session.get_one(Site, mia.site_id), "mug").id
    page(mia, f"{SEARCH}/ranking")
    mia.post(f"{SEARCH}/ranking/{rule_id}/pause", {})
    with app.app_context():
        assert undoable_change(mia.site_id, "rule", str(rule_id), "Mia Moss") is not None
        assert undoable_change(mia.site_id, "rule", str(rule_id), "Noor Nash") is None


def test_undo_leads_nowhere_outside_of_the_admin(app: Flask, mia: Merchandiser) -> None:
    mia.get(f"{SEARCH}/synonyms")
    mia.post(f"{SEARCH}/synonyms", {"type": "EQUIVALENT", "words": "mug, cup"})
    found = UNDO.search(page(mia, f"{SEARCH}/synonyms"))
    assert found
    assert mia.post(found[1], {"back": "//evil.test/"}).headers["Location"] == f"{SEARCH}/activity"
