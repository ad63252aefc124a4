"""The counts from which landing pages are made: how often they are asked for, and what serves while search is away."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from app.adapters.null_engine import NullEngine
from app.domain.search.engine import IndexName, SearchEngine, SearchRequest, SearchResult
from app.domain.sites.settings import change_settings
from app.domain.sites.versioning import index_changed
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.storefront.conftest import Get
from tests.blueprints.storefront.landing import MOOR, TENTS, Rules, engine_of, use
from tests.fakes.clock import StoppedClock

pytestmark = pytest.mark.usefixtures("brands")


class CountingEngine:
    """The engine in its place, which notes every search."""

    def __init__(self, engine: SearchEngine) -> None:
        self._engine = engine
        self.requests: list[SearchRequest] = []

    def search(self, site_id: int, name: IndexName, request: SearchRequest) -> SearchResult:
        self.requests.append(request)
        return self._engine.search(site_id, name, request)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)


def test_the_counts_are_one_query_for_each_category_and_facet_and_none_while_they_are_fresh(
    app: Flask, get: Get, change: Rules, clock: StoppedClock
):
    change("camping/tents", landing_rules=[{"facetId": "manufacturer"}, {"facetId": "colour"}])
    engine = CountingEngine(engine_of(app))
    use(app, engine)
    get(TENTS)
    counting = [requests for requests in engine.requests if requests.per_page == 0]
    assert [requests.facets for requests in counting] == [("manufacturer",), ("colour",)] and len(engine.requests) == 3
    engine.requests.clear()
    for path in (TENTS, MOOR, f"{TENTS}?manufacturer=Moor", f"{TENTS}?p=2"):
        get(path)
    assert [requests for requests in engine.requests if requests.per_page == 0] == []
    clock.move(minutes=5)
    engine.requests.clear()
    get(TENTS)
    assert [requests.facets for requests in engine.requests] == [("manufacturer",), ("colour",)]


def test_a_swap_of_the_index_counts_anew(app: Flask, get: Get, site_id: int, clock: StoppedClock):
    get(TENTS)
    engine = CountingEngine(engine_of(app))
    use(app, engine)
    with app.app_context(), transaction():
        index_changed(db.session(), site_id)
    clock.move(seconds=1)
    get(TENTS)
    assert [requests.facets for requests in engine.requests if requests.per_page == 0] == [("manufacturer",)]


def test_without_counts_there_are_no_pages_and_no_redirect(app: Flask, get: Get):
    use(app, NullEngine())
    assert get(MOOR).status_code == 404
    assert get(f"{TENTS}?manufacturer=Moor").status_code == 503, "filtering needs search, and nobody is sent away"
    assert "landing-links" not in get(TENTS).text


def test_the_last_good_counts_serve_for_a_day_while_search_is_away(app: Flask, get: Get, clock: StoppedClock):
    get(TENTS), get(MOOR)
    use(app, NullEngine())
    clock.move(hours=23)
    assert get(f"{TENTS}?manufacturer=Moor").status_code == 301
    assert MOOR in get(TENTS).text
    assert get(MOOR).status_code == 200
    clock.move(hours=2)
    assert get(f"{TENTS}?manufacturer=Moor").status_code != 301
    assert get(MOOR).status_code == 404


def test_a_site_can_do_without_old_counts(app: Flask, get: Get, site_id: int, clock: StoppedClock):
    with app.app_context(), transaction():
        change_settings(site_id, {"facet-landing-stale-counts": False})
    clock.move(seconds=1)
    assert get(MOOR).status_code == 200
    use(app, NullEngine())
    assert get(MOOR).status_code == 200, "for five minutes they are fresh"
    clock.move(minutes=5)
    assert get(MOOR).status_code == 404
