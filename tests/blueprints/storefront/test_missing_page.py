"""The page of an address that has none leads to what is near, and cannot be used to keep the shop busy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from flask import Flask

from app import ports
from app.blueprints.storefront.blueprint import MISSING_CACHE
from app.blueprints.storefront.pages import OF_CALLER, OF_SITE
from app.domain.search.engine import IndexName, SearchEngine, SearchRequest, SearchResult
from app.domain.search_statistics.models import SearchDay
from app.extensions import db
from app.jobs.search_statistics import drain
from tests.blueprints.storefront.conftest import Get
from tests.blueprints.storefront.shopper import Shopper
from tests.fakes.clock import StoppedClock
from tests.statements import statements

PERHAPS = "Perhaps one of these"


class CountedEngine:
    """An engine that counts its calls."""

    def __init__(self, engine: SearchEngine) -> None:
        self.engine, self.calls = engine, 0

    def __getattr__(self, name: str) -> object:
        return getattr(self.engine, name)

    def search_many(self, site_id: int, index: IndexName, requests: list[SearchRequest]) -> list[SearchResult]:
        self.calls += 1
        return self.engine.search_many(site_id, index, requests)


@contextmanager
def counted(app: Flask) -> Iterator[CountedEngine]:
    real = app.extensions[ports.EXTENSION]
    engine = CountedEngine(real.search_engine)
    app.extensions[ports.EXTENSION] = replace(real, search_engine=engine)
    yield engine
    app.extensions[ports.EXTENSION] = real


def test_a_product_that_is_gone_leads_to_those_like_it_and_stays_a_missing_page(get: Get) -> None:
    answer = get("/p/fell-tent-99")
    assert answer.status_code == 404
    assert PERHAPS in answer.text
    names = re.findall(r'<span class="name">(.*?)</span>', answer.text)
    assert names and all(name.startswith("Fell tent") for name in names)
    assert 'href="/search?q=fell%20tent%2099"' in answer.text
    assert '<meta name="robots" content="noindex' in answer.text
    assert "noindex" in answer.headers["X-Robots-Tag"]
    assert "canonical" not in answer.text


def test_a_category_that_is_gone_leads_to_the_nearest_ones(get: Get) -> None:
    page = get("/c/camping/old-mugs").text
    near = re.search(r'<h2 id="categories">.*?</ul>', page, re.DOTALL)
    assert near and re.findall(r'href="([^"]+)"', near[0]) == ["/c/camping/mugs", "/c/camping"]


def test_without_a_category_of_such_a_name_all_main_ones_are_named(get: Get) -> None:
    page = get("/p/fell-99").text
    near = re.search(r'<h2 id="categories">.*?</ul>', page, re.DOTALL)
    assert PERHAPS in page and near and re.findall(r'href="([^"]+)"', near[0]) == ["/c/camping", "/c/gifts"]


def test_what_is_not_for_sale_is_not_suggested(get: Get) -> None:
    assert 'href="/p/tent-2"' not in get("/p/moor-tent-2").text


def test_words_that_find_nothing_lead_to_all_categories(get: Get) -> None:
    page = get("/qqqzzz").text
    assert PERHAPS not in page and "Browse the shop" in page


@pytest.mark.parametrize(
    "path", ["/static/fell-tent.css", "/media/1/fell-tent.webp", "/order/fell-tent", "/r/fell-tent"]
)
def test_files_and_what_belongs_to_a_shopper_get_no_suggestions(app: Flask, get: Get, path: str) -> None:
    with counted(app) as engine:
        assert get(path).status_code == 404
    assert engine.calls == 0


def test_programs_get_the_problem_and_no_page(get: Get) -> None:
    answer = get("/p/fell-tent-99", Accept="application/json")
    assert answer.status_code == 404 and answer.json and answer.json["status"] == 404


def test_words_of_an_address_show_as_text(get: Get) -> None:
    assert "<b>tent" not in get("/p/<b>tent</b>").text


def test_an_address_is_searched_once_for_each_state_of_the_shop(app: Flask, site_id: int, get: Get) -> None:
    with counted(app) as engine:
        first, second = get("/p/fell-tent-99"), get("/p/fell-tent-99")
    assert engine.calls == 1 and first.text == second.text


def test_a_missing_page_reads_nothing_of_the_database(app: Flask, site_id: int, get: Get) -> None:
    get("/p/fell-tent-98")
    with statements(app) as seen:
        assert PERHAPS in get("/nowhere/fell-tent-99").text
    assert [statement for statement in seen if "products" in statement] == []


def test_a_program_that_tries_addresses_is_answered_without_searching(
    app: Flask, site_id: int, get: Get, clock: StoppedClock
) -> None:
    get("/")  # Draws the tiles of categories, which these pages show as well.
    with counted(app) as engine:
        answers = [get(f"/p/fell-tent-{number}") for number in range(100, 100 + OF_CALLER.most + 20)]
    assert {answer.status_code for answer in answers} == {404}
    assert engine.calls == OF_CALLER.most
    assert PERHAPS in answers[0].text and PERHAPS not in answers[-1].text
    assert "Browse the shop" in answers[-1].text
    clock.move(minutes=1)
    assert PERHAPS in get("/p/fell-tent-999").text


def test_many_programs_together_are_bounded_too(app: Flask, site_id: int) -> None:
    """From this machine, as behind a proxy that nobody named, callers cannot be told apart."""
    mia = Shopper(app)
    mia.client.environ_base["REMOTE_ADDR"] = "127.0.0.1"
    mia.get("/")  # Draws the tiles of categories, which these pages show as well.
    with counted(app) as engine:
        for number in range(OF_SITE.most + 10):
            assert mia.get(f"/p/fell-tent-{number}-gone").status_code == 404
    assert engine.calls == OF_SITE.most
    cache = app.extensions[MISSING_CACHE]
    assert len(cache) == OF_SITE.most


def test_no_search_is_counted(app: Flask, site_id: int, get: Get) -> None:
    get("/p/fell-tent-99", User_Agent="Mozilla/5.0")
    with app.app_context():
        drain()
        assert db.session.query(SearchDay).count() == 0


def test_the_page_stands_while_search_is_down(app: Flask, site_id: int, get: Get) -> None:
    with app.app_context():
        ports.search_engine().forget(site_id)
    answer = get("/p/fell-tent-99")
    assert answer.status_code == 404 and "Browse the shop" in answer.text
