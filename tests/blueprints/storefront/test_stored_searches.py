"""What is stored of searches, and of what they led to, names nobody: not alone, not beside the orders, and not to those
who have the disk and all its keys."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from flask import Flask
from sqlalchemy import Date, DateTime, select

from app.blueprints.callers import network_of_client
from app.domain.catalogue.models import Product
from app.domain.search_statistics.models import SearchProductWeek, SearchRephrasing, SearchWordDay
from app.domain.sites.settings import change_settings
from app.extensions import Base, db
from app.jobs.search_statistics import drain
from app.transaction import transaction
from tests.blueprints.storefront.shopper import Shopper
from tests.fakes.clock import StoppedClock
from tests.joined_orders import buyers_named

HOST = "http://shop.test"


@pytest.fixture(autouse=True)
def _nothing_sells_out(app: Flask, site_id: int) -> None:
    with app.app_context(), transaction():
        for product in db.session.scalars(select(Product)):
            product.stock = None


@pytest.fixture
def _learns(app: Flask, site_id: int, clock: StoppedClock) -> None:
    switch_learning(app, site_id, clock, "shadow")


def switch_learning(app: Flask, site_id: int, clock: StoppedClock, mode: str) -> None:
    with app.app_context(), transaction():
        change_settings(site_id, {"search-learning": mode})
    clock.move(seconds=2)


def shop_for(app: Flask, words: str, network: str, orders: bool = False) -> None:
    """Search in a browser without cookies, open what is found, and buy it or not."""
    shopper = Shopper(app)
    shopper.client.environ_base["REMOTE_ADDR"] = network
    page = shopper.get(f"/search?q={words}").text
    start = page.index('href="/p/') + len('href="')
    product = shopper.get(page[start : page.index('"', start)], Referer=f"{HOST}/search?q={words}").text
    if orders:
        sku = re.search(r'name="sku" value="([^"]+)"', product)
        assert sku is not None
        assert shopper.add(sku[1]).status_code == 303
        assert shopper.order(email=f"mia-{network}@home.test").status_code == 303


def buy_without_a_search(app: Flask, network: str) -> None:
    shopper = Shopper(app)
    shopper.client.environ_base["REMOTE_ADDR"] = network
    page = shopper.get("/search?q=tent").text
    start = page.index('href="/p/') + len('href="')
    shopper.client.delete_cookie("trail", domain=shopper.host)
    product = shopper.get(page[start : page.index('"', start)]).text
    sku = re.search(r'name="sku" value="([^"]+)"', product)
    assert sku is not None
    assert shopper.add(sku[1]).status_code == 303
    assert shopper.order(email=f"ann-{network}@home.test").status_code == 303


def stored(app: Flask) -> list[tuple[str, int, int]]:
    with app.app_context():
        drain()
        rows = db.session.scalars(select(SearchProductWeek).order_by(SearchProductWeek.word, SearchProductWeek.week))
        return [(row.word, row.opens, row.bought) for row in rows]


@pytest.mark.usefixtures("_learns")
def test_opens_and_purchases_are_stored_where_five_share_them_and_name_no_buyer(app: Flask, site_id: int) -> None:
    for number in range(6):
        shop_for(app, "tent", f"192.0.2.{number}", orders=number < 5)
    for number in range(4):
        shop_for(app, "stove", f"198.51.100.{number}", orders=True)
    assert stored(app) == [("tent", 6, 0)], "all five who ordered it would be known to have searched for it"
    for number in range(5):
        buy_without_a_search(app, f"203.0.113.{number}")
    shop_for(app, "tent", "192.0.2.99", orders=True)
    assert stored(app) == [("tent", 7, 5)]
    with app.app_context():
        assert buyers_named(site_id) == []


@pytest.mark.usefixtures("_learns")
def test_the_one_who_buys_what_many_open_is_not_named_by_it(app: Flask, site_id: int) -> None:
    for number in range(9):
        shop_for(app, "tent", f"192.0.2.{number}", orders=number == 3)
    assert stored(app) == [("tent", 9, 0)]
    with app.app_context():
        assert buyers_named(site_id) == []


def test_a_shop_that_does_not_learn_counts_no_products_and_drops_those_that_it_has(
    app: Flask, site_id: int, clock: StoppedClock
) -> None:
    for number in range(6):
        shop_for(app, "tent", f"192.0.2.{number}")
    assert stored(app) == []
    switch_learning(app, site_id, clock, "on")
    for number in range(6):
        shop_for(app, "tent", f"203.0.113.{number}")
    assert stored(app) == [("tent", 6, 0)]


@pytest.mark.usefixtures("_learns")
def test_one_network_is_one_visit_a_day_however_often_it_comes_and_its_other_addresses_are_its_own(
    app: Flask, site_id: int, clock: StoppedClock
) -> None:
    for number in range(8):
        shop_for(app, "tent", f"2001:db8:7:1::{number + 1:x}")
    for number in range(4):
        shop_for(app, "tent", f"192.0.2.{number}")
    clock.move(days=1)
    shop_for(app, "tent", "2001:db8:7:1::1")
    assert stored(app) == [("tent", 6, 0)]
    with app.app_context():
        assert sum(row.clicked for row in db.session.scalars(select(SearchWordDay))) == 13, "they are clicks as ever"


@pytest.mark.usefixtures("_learns")
def test_what_a_search_before_midnight_leads_to_after_it_counts_for_its_week(
    app: Flask, site_id: int, clock: StoppedClock
) -> None:
    clock.move(days=2, hours=11, minutes=50)  # To the last minutes of a Sunday.
    shoppers = [Shopper(app) for _ in range(5)]
    for number, shopper in enumerate(shoppers):
        shopper.client.environ_base["REMOTE_ADDR"] = f"192.0.2.{number}"
        page = shopper.get("/search?q=tent").text
    clock.move(hours=1)
    start = page.index('href="/p/') + len('href="')
    for shopper in shoppers:
        shopper.get(page[start : page.index('"', start)], Referer=f"{HOST}/search?q=tent")
    assert stored(app) == [("tent", 5, 0)]
    with app.app_context():
        week = db.session.scalars(select(SearchProductWeek.week)).one()
        assert (clock.now().date() - week).days == 7


@pytest.mark.usefixtures("_learns")
def test_no_file_holds_a_search_or_a_network_once_it_is_counted(app: Flask, site_id: int, tmp_path: Path) -> None:
    """Keyed hashes would do: who has the disk has the key, and can ask for each address whether it searched."""
    before = {path.relative_to(tmp_path) for path in tmp_path.rglob("*")}
    for number in range(3):
        shop_for(app, "tent", f"192.0.2.{number}", orders=True)
    assert stored(app) == []
    new = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()} - before
    assert {path.parts[0] for path in new} <= {"counting", "mail", "locks", "index"}, sorted(map(str, new))
    assert all((tmp_path / path).read_bytes() == b"" for path in new if path.parts[0] == "counting")
    assert not [path for path in new if b"192.0.2." in (tmp_path / path).read_bytes()]


def test_no_table_of_searches_has_a_time_of_day() -> None:
    tables = [table for name, table in Base.metadata.tables.items() if name.startswith("search_")]
    moments = {
        f"{table.name}.{column.name}"
        for table in tables
        for column in table.columns
        if isinstance(column.type, DateTime) or type(column.type).__name__ == "UtcDateTime"
    }
    # What staff did has its time: a rule, a replay, a search term.
    of_staff = ("search_rules.", "search_replays.", "search_term_starts.")
    assert not [column for column in moments if not column.startswith(of_staff)]
    for table in (SearchWordDay, SearchProductWeek, SearchRephrasing):
        assert sum(isinstance(column.type, Date) for column in table.__table__.columns) == 1


def test_all_of_an_ipv6_network_is_one(app: Flask) -> None:
    for address in ("2001:db8:7:1::1", "2001:db8:7:1:ffff::9"):
        with app.test_request_context(environ_base={"REMOTE_ADDR": address}):
            assert network_of_client() == "2001:0db8:0007:0001"
