"""The page of golden searches, and their card on the Overview."""

from __future__ import annotations

import pytest
from flask import Flask
from sqlalchemy import event, select

from app.domain.relevance.models import GoldenSearch
from app.domain.search.engine import SearchContext
from app.domain.sites.accounts import Role
from app.domain.sites.models import Site
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.admin.catalogue_client import Merchandiser
from tests.domain.relevance.trials.preview_shop import shop
from tests.factories import make_golden, make_user
from tests.page_client import PageClient

PATH = "/admin/search/golden"


@pytest.fixture
def someone(app: Flask, indexing: SearchContext) -> Merchandiser:
    with app.app_context():
        site_id = shop(indexing, "localhost")
        with transaction():
            make_user(db.session.get_one(Site, site_id), Role.MERCHANDISER, email="mia@shop.test")
    indexing.clock.move(seconds=2)  # type: ignore[attr-defined]
    return Merchandiser(PageClient(app).signed_in("mia@shop.test"), site_id)


def _rows(app: Flask) -> list[GoldenSearch]:
    with app.app_context():
        return list(db.session.scalars(select(GoldenSearch).order_by(GoldenSearch.id)))


def _add(someone: Merchandiser, app: Flask, **more: str) -> GoldenSearch:
    someone.post(PATH, {"query": "mug", "sku": "MUG-1", "within": "5"} | more)
    return _rows(app)[-1]


def test_an_empty_page_says_what_golden_searches_are_for(someone: Merchandiser) -> None:
    page = someone.get(f"{PATH}?q=rain+coat")
    assert "No golden search yet" in page.texts["p"]
    assert page.value("query") == "rain coat"


def test_what_is_added_is_checked_at_once(someone: Merchandiser, app: Flask) -> None:
    row = _add(someone, app)
    assert (row.query, row.sku, row.within, row.passes) == ("mug", "MUG-1", 5, True)
    assert "Passes" in someone.fragment(PATH).text


def test_a_product_is_understood_by_its_name(someone: Merchandiser, app: Flask) -> None:
    assert _add(someone, app, query="jug", sku="water ju").sku == "JUG-1"


def test_what_was_typed_stays_when_it_is_refused(someone: Merchandiser, app: Flask) -> None:
    page = someone.post(PATH, {"query": "mug", "sku": "NONE", "within": "77"}, 400)
    assert (page.value("query"), page.value("sku"), page.value("within")) == ("mug", "NONE", "77")
    assert "Give a place from 1 to 50." in page.texts["p"]
    assert _rows(app) == []


def test_a_row_is_edited_in_place(someone: Merchandiser, app: Flask) -> None:
    row = _add(someone, app)
    page = someone.get(f"{PATH}?edit={row.id}")
    assert page.value("revision") == "1"
    assert [one["name"] for one in page.all("input") if one.get("hx-get", "").endswith("field=sku")] == ["sku", "sku"]
    form = {"query": "cup", "sku": "CUP-1", "within": "2", "revision": "1"}
    answer = someone.swap(f"{PATH}/{row.id}", form)
    assert answer.status_code == 200 and "just-changed" in answer.text and "Saved." in answer.text
    (changed,) = _rows(app)
    assert (changed.query, changed.sku, changed.within, changed.revision) == ("cup", "CUP-1", 2, 2)
    late = someone.swap(f"{PATH}/{row.id}", form)
    assert late.status_code == 409 and "saved this golden search while you worked on it" in late.text


def test_a_refused_edit_keeps_the_form_open(someone: Merchandiser, app: Flask) -> None:
    row = _add(someone, app)
    answer = someone.swap(f"{PATH}/{row.id}", {"query": "", "sku": "MUG-1", "within": "2", "revision": "1"})
    assert answer.status_code == 400 and "The search is missing." in answer.text
    assert 'name="revision"' in answer.text
    assert '<a href="#f-edit-query">The search is missing.</a>' in answer.text
    assert 'id="f-edit-query" name="query"' in answer.text


def test_a_golden_search_is_deleted_and_the_page_says_what_that_means(someone: Merchandiser, app: Flask) -> None:
    row = _add(someone, app)
    page = someone.fragment(PATH).text
    assert "You are no longer alerted when MUG-1 leaves the first 5." in page and ">Delete…</button>" in page
    someone.post(f"{PATH}/{row.id}/delete", {})
    assert _rows(app) == []


def test_all_can_be_checked_at_any_time(someone: Merchandiser, app: Flask, indexing: SearchContext) -> None:
    _add(someone, app)
    indexing.clock.move(hours=1)  # type: ignore[attr-defined]
    assert "Checked 1 golden search." in someone.swap(f"{PATH}/check", {}).text
    assert _rows(app)[0].checked_at == indexing.clock.now()
    indexing.engine.forget(someone.site_id)
    assert "Search does not answer" in someone.swap(f"{PATH}/check", {}).text


def test_search_that_is_away_keeps_nobody_from_adding(
    someone: Merchandiser, app: Flask, indexing: SearchContext
) -> None:
    indexing.engine.forget(someone.site_id)
    assert _add(someone, app).passes is None


def test_the_overview_names_what_fails(someone: Merchandiser, app: Flask) -> None:
    assert "Add the first golden search" in someone.pages.client.get("/admin/search").text
    _add(someone, app)
    assert "All pass" in someone.pages.client.get("/admin/search").text
    _add(someone, app, query="pitcher", sku="JUG-1")
    row = " ".join(someone.pages.client.get(PATH).text.split())
    assert "Fails" in row and "not among the first 50</span>" in row.replace(", since", "</span>")
    text = " ".join(someone.pages.client.get("/admin/search").text.split())
    assert "1 fails" in text and "Water jug is not among the first 50, wanted in the first 5" in text


def test_many_golden_searches_cost_no_more_queries(someone: Merchandiser, app: Flask) -> None:
    def queries() -> int:
        seen: list[str] = []
        with app.app_context():
            engine = db.engine

        def note(*arguments: object) -> None:
            seen.append(str(arguments[2]))

        event.listen(engine, "before_cursor_execute", note)
        try:
            assert someone.pages.client.get(PATH, base_url=someone.pages.base).status_code == 200
        finally:
            event.remove(engine, "before_cursor_execute", note)
        return len(seen)

    _add(someone, app)
    few = queries()
    with app.app_context(), transaction():
        site = db.session.get_one(Site, someone.site_id)
        for number in range(50):
            make_golden(site, "MUG-1", query=f"mug {number}")
    assert queries() == few
