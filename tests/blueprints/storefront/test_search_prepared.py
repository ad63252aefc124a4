"""The shop while the products of a new site are on their way into its index."""

from __future__ import annotations

from dataclasses import replace

import pytest
from flask import Flask

from app.adapters.whoosh import WhooshEngine
from app.domain.search.engine import SearchContext
from app.domain.search.index.healing import is_awaited
from app.domain.search.index.outbox import apply_waiting
from app.domain.search_statistics.counting.events import Event
from app.domain.sites.sites import create_site
from app.ports import EXTENSION, STORES
from app.transaction import transaction
from tests.blueprints.storefront.shopper import Shopper
from tests.searching import add_product


class Counted:
    """A spool that keeps what was noted."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def note(self, events: list[Event]) -> None:
        self.events += events


@pytest.fixture
def counted(app: Flask) -> Counted:
    counted = Counted()
    ports = app.extensions[EXTENSION]
    engine = WhooshEngine(app.config["SHOP"].index_dir, is_awaited=is_awaited)
    app.extensions[EXTENSION] = replace(ports, search_engine=engine)
    app.extensions[STORES] = replace(app.extensions[STORES], counting=counted)
    return counted


@pytest.fixture
def shopper(app: Flask) -> Shopper:
    return Shopper(app, "new.test")


@pytest.fixture
def new_site(app: Flask, counted: Counted, indexing: SearchContext) -> int:
    """One whose index is empty, and whose first product was just saved."""
    with app.app_context():
        with transaction():
            site_id = create_site(indexing.clock, "new.test", "New").id
        with transaction():
            add_product(site_id, "tent")
    return site_id


def test_a_search_says_so_and_counts_nothing(shopper: Shopper, new_site: int, counted: Counted) -> None:
    page = shopper.get("/search?q=tent")
    assert (page.status_code, page.headers["Retry-After"]) == (503, "5")
    assert "Search is being prepared. Please try again in a moment." in page.text
    program = shopper.get("/search?q=tent", Accept="application/json")
    assert (program.status_code, program.json["code"]) == (503, "search_unavailable")
    assert program.json["detail"].startswith("Search is being prepared.")
    assert counted.events == []


def test_programs_get_the_products_by_name_as_while_search_is_away(shopper: Shopper, new_site: int) -> None:
    answer = shopper.get("/v1/product?q=tent")
    assert [item["skuCode"] for item in answer.json["items"]] == ["tent"]


def test_readiness_names_it_until_the_products_are_found(
    app: Flask, shopper: Shopper, new_site: int, indexing: SearchContext, counted: Counted
) -> None:
    answer = shopper.get("/readyz")
    assert answer.status_code == 503
    assert answer.json["checks"]["index"] == "down: the index of products is being prepared"
    with app.app_context():
        apply_waiting(indexing, new_site)
    assert shopper.get("/readyz").status_code == 200
    assert "tent" in shopper.get("/search?q=tent").text
    assert len(counted.events) > 0


def test_a_site_without_products_is_searchable(app: Flask, shopper: Shopper, counted: Counted) -> None:
    with app.app_context(), transaction():
        create_site(app.extensions[EXTENSION].clock, "new.test", "New")
    assert shopper.get("/readyz").status_code == 200
    assert shopper.get("/search?q=tent").status_code == 200
    assert len(counted.events) > 0
