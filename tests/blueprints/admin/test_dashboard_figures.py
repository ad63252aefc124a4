"""The dashboard of a period: sales, searches, best sellers, stock that runs out, tills, and where each leads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import insert

from app.adapters.null_engine import NullEngine
from app.domain.catalogue.models import Product
from app.domain.dashboard.board import TRIED_WORDS
from app.domain.orders.models import Order
from app.domain.orders.sales import LATEST_ORDERS_OF_SPAN
from app.domain.search_statistics.counting.queries import site_today
from app.domain.sites.accounts import Role
from app.domain.sites.models import Site
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.ports import EXTENSION
from app.transaction import transaction
from tests.blueprints.admin.conftest import SignedIn
from tests.blueprints.admin.pos_till import AtTill, at_till
from tests.counted_searches import count
from tests.factories import make_order, make_product, make_site
from tests.fakes.clock import StoppedClock
from tests.page_client import PageClient
from tests.statements import statements

PAGE = "/admin/"
JSON = {"Accept": "application/json"}
Sell = Callable[..., None]
Search = Callable[..., None]


@pytest.fixture
def ada(signed_in: SignedIn) -> PageClient:
    return signed_in(Role.ADMIN)


@pytest.fixture
def sell(app: Flask, site_id: int, clock: StoppedClock) -> Sell:
    """Sells two pieces of a product, made where there is none of this SKU."""

    def sell_some(days_ago: float = 0, sku: str = "MUG", stock: int | None = None, **more: object) -> None:
        with app.app_context(), transaction():
            site = db.session.get_one(Site, site_id)
            product = db.session.query(Product).filter_by(site_id=site_id, sku=sku).one_or_none()
            product = product or make_product(site, sku, name=f"The {sku.lower()}", stock=stock)
            at = clock.now() - timedelta(days=days_ago)
            make_order(site, product, **({"status": "COLLECTED", "submitted_at": at} | more))

    return sell_some


@pytest.fixture
def search(app: Flask, site_id: int, clock: StoppedClock) -> Search:
    def count_some(word: str, days_ago: int = 0, finds: int = 3, **counts: int) -> None:
        with app.app_context(), transaction():
            today = site_today(clock, site_id)
            count(site_id, today, today - timedelta(days=days_ago), word, finds, **counts)

    return count_some


def text(browser: PageClient, address: str = PAGE) -> str:
    browser.get(address)
    return " ".join(browser.client.get(address).text.split())


def part(browser: PageClient, id: str, address: str = PAGE) -> str:
    return text(browser, address).partition(f'id="{id}"')[2].partition("</section>")[0]


def as_json(browser: PageClient, address: str = PAGE) -> dict:
    return browser.client.get(address, headers=JSON).json


def figures(browser: PageClient, address: str = PAGE) -> dict[str, dict]:
    return {figure["key"]: figure for figure in as_json(browser, address)["figures"]}


def test_revenue_and_orders_of_the_period_lead_to_its_orders(ada: PageClient, sell: Sell, clock: StoppedClock) -> None:
    for days_ago in (0, 2, 6, 8):
        sell(days_ago, total=1_000)
    shown = part(ada, "figures", "/admin/?days=7")
    assert "£30.00" in shown and ">3</dd>" in shown and "so far: £10.00; 7 days before" in shown
    first, last = (clock.now() - timedelta(days=6)).date(), clock.now().date()
    assert f'href="/admin/orders?from={first}&amp;to={last}"' in shown
    assert "3 orders" in text(ada, f"/admin/orders?from={first}&to={last}")


def test_a_period_is_compared_without_today_with_the_same_days_before(ada: PageClient, sell: Sell) -> None:
    sell(0, total=99_000)
    sell(1, total=3_000)
    sell(8, total=2_000)
    assert "50% more than before" in part(ada, "figures", "/admin/?days=7")
    assert figures(ada, "/admin/?days=7")["revenue"]["compared"] == {"now": 3_000, "before": 2_000}


def test_today_alone_is_compared_with_a_week_ago_up_to_this_time(ada: PageClient, sell: Sell) -> None:
    sell(0, total=500)
    sell(7 + 1 / 24, total=1_000)
    sell(7 - 1 / 24, total=7_000)  # A week ago, later than it is now.
    shown = part(ada, "figures", "/admin/?days=1")
    assert "50% less than before" in shown and "up to this time of day" in shown and ">Today</h2>" in shown


def test_searches_and_what_they_led_to_are_shown_with_what_was_not_found(ada: PageClient, search: Search) -> None:
    search("kettle", days_ago=1, searches=95, ordered=4)
    search("wellies & “boots”", days_ago=2, finds=0, searches=5, found_nothing=5)
    shown = part(ada, "figures")
    assert ">100</dd>" in shown and ">4.0%</dd>" in shown and "/admin/search/analytics/leads-to?days=30" in shown
    not_found = part(ada, "not-found")
    assert "5 searches" in not_found and "kettle" not in not_found
    for address in ("synonyms?word=", "test?q="):
        assert f"/admin/search/{address}wellies+%26+%E2%80%9Cboots%E2%80%9D" in not_found


def test_top_products_and_stock_that_runs_out_lead_to_the_product(ada: PageClient, sell: Sell) -> None:
    sell(1, stock=1)
    top = part(ada, "top-products")
    assert "The mug" in top and "£25.00" in top and "2 sold" in top and "/admin/catalogue/product/" in top
    assert "No stock runs out soon" in part(ada, "ending-stock"), "it lasts for 15 days"
    for _ in range(14):
        sell(2)
    ending = part(ada, "ending-stock")
    assert "About 1 day left" in ending and "1 in stock, 1 sold a day" in ending
    assert "within 14 days" in ending and "shown=enabled&amp;stock=in&amp;sort=stock" in ending


def test_a_merchandiser_sees_no_takings(sell: Sell, till: AtTill, signed_in: SignedIn, search: Search) -> None:
    search("wellies", days_ago=1, finds=0, searches=5, found_nothing=5)
    sell(1, total=123_456)
    till.payment(amount_in_pence=654_321)
    mia = signed_in()
    shown, found = text(mia), as_json(mia)
    assert "1,234.56" not in shown and "6,543.21" not in shown and "£25.00" not in shown and "Revenue" not in shown
    assert "2 sold" in shown and "Found nothing" in shown and 'id="tills"' not in shown and "/admin/orders" not in shown
    assert [figure["key"] for figure in found["figures"]] == ["searches", "foundNothing", "conversion"]
    assert found["tills"] is None and found["topProducts"][0]["revenue"] is None


@pytest.fixture
def till(app: Flask, site_id: int, clock: StoppedClock) -> AtTill:
    return at_till(app, site_id, clock.now())


def test_tills_are_shown_by_location_and_agent(ada: PageClient, till: AtTill, clock: StoppedClock) -> None:
    till.session()
    till.payment(amount_in_pence=3_000)
    till.payment(amount_in_pence=1_000)
    till.payment(amount_in_pence=9_000, created_at=clock.now() - timedelta(days=1))
    shown = part(ada, "tills")
    assert "£40.00" in shown and "2 sales" in shown and "Market stall" in shown and "Tilly Till" in shown
    day = clock.now().date()
    for filter in (f"from={day}&amp;location={till.location_id}", f"agent={till.agent_id}&amp;from={day}"):
        assert filter in shown
    assert as_json(ada)["tills"]["locations"] == [
        {"id": str(till.location_id), "name": "Market stall", "sales": 2, "taken": 4_000}
    ]


def test_a_till_that_took_nothing_says_so_and_a_shop_without_one_has_no_card(
    ada: PageClient, app: Flask, site_id: int, clock: StoppedClock
) -> None:
    assert 'id="tills"' not in text(ada)
    at_till(app, site_id, clock.now())
    shown = part(ada, "tills")
    assert "£0.00" in shown and "from 0 sales" in shown and "No agent is signed in at a till." in shown


def test_a_new_shop_is_shown_its_first_steps(ada: PageClient, sell: Sell) -> None:
    steps = part(ada, "first-steps")
    assert "/admin/catalogue/product/new" in steps and "Done" not in steps
    shown = text(ada)
    assert "Nothing sold in this time" in shown and "No stock runs out soon" in shown and "Nothing is missing" in shown
    sell()
    assert part(ada, "first-steps").count("Done") == 1


def test_while_searches_or_clicks_are_not_counted_the_page_says_so(
    ada: PageClient, app: Flask, site_id: int, search: Search
) -> None:
    search("kettle", searches=5)
    with app.app_context(), transaction():
        change_settings(site_id, {"search-click-tracking-enabled": False})
    assert "Clicks are not recorded" in text(ada) and list(figures(ada)) == ["revenue", "orders", "searches"]
    with app.app_context(), transaction():
        change_settings(site_id, {"search-term-tracking-enabled": False})
    assert "Searches are not counted" in text(ada) and list(figures(ada)) == ["revenue", "orders"]


def test_while_search_does_not_answer_the_rest_of_the_page_works(
    app: Flask, ada: PageClient, sell: Sell, search: Search
) -> None:
    sell(1, total=3_000)
    search("wellies", days_ago=1, finds=0, searches=5, found_nothing=5)
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], search_engine=NullEngine())
    shown = text(ada)
    assert "Search is not set up, so shoppers find nothing." in shown and "£30.00" in shown and "wellies" in shown


def test_the_json_has_what_the_page_has(ada: PageClient, sell: Sell, clock: StoppedClock) -> None:
    sell(0, total=1_000)
    found = as_json(ada, "/admin/?days=7")
    assert (found["days"], found["to"], found["currency"]) == (7, clock.now().date().isoformat(), "gbp")
    revenue = found["figures"][0]
    assert revenue["number"] == 1_000 and list(revenue["byDay"].values()) == [0] * 6 + [1_000]
    assert found["topProducts"] == [{"sku": "MUG", "name": "The mug", "units": 2, "revenue": 2_500}]
    assert {"topic", "text", "severity"} == set(found["attention"][0])


def test_an_address_that_names_no_period_shows_30_days(ada: PageClient) -> None:
    for address in ("/admin/?days=0", "/admin/?days=x", "/admin/?days="):
        assert as_json(ada, address)["days"] == 30


def test_another_shops_sales_are_not_shown(app: Flask, ada: PageClient, sell: Sell, clock: StoppedClock) -> None:
    sell(1, total=3_000)
    with app.app_context(), transaction():
        other = make_site("other.test")
        make_order(other, make_product(other, name="Elsewhere"), submitted_at=clock.now(), total=777_700)
    shown = text(ada)
    assert "£30.00" in shown and "7,777" not in shown and "Elsewhere" not in shown


def test_it_takes_the_same_statements_however_much_was_sold(
    app: Flask, ada: PageClient, sell: Sell, search: Search, till: AtTill
) -> None:
    sell(1, stock=1)
    for number in range(TRIED_WORDS):
        search(f"boots {number}", finds=0, found_nothing=1)
    till.session()
    till.payment()
    with statements(app) as few:
        ada.get("/admin/?days=90")
    for number in range(12):
        sell(number, sku=f"MUG-{number}", stock=1)
        search(f"wellies {number}", days_ago=number, finds=0, found_nothing=1)
        till.payment()
    with statements(app) as many:
        ada.get("/admin/?days=90")
    assert len(many) == len(few) < 80


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("from=2026-11-02", "1 order<"),
        ("to=2026-11-01", "No order was placed then"),
        ("from=2026-11-09&to=2026-11-01", "No order was placed then"),
        ("from=yesterday", "1 order<"),
    ],
)
def test_orders_are_narrowed_by_the_days_on_which_they_were_placed(
    ada: PageClient, sell: Sell, query: str, shown: str
) -> None:
    sell(0)
    assert shown in text(ada, f"/admin/orders?{query}")


def test_of_very_many_orders_the_latest_are_counted_and_the_page_says_so(
    app: Flask, ada: PageClient, sell: Sell, clock: StoppedClock
) -> None:
    sell(29, sku="TENT")
    sell(0)
    with app.app_context(), transaction():
        made = db.session.query(Order).order_by(Order.submitted_at.desc()).first()
        columns = {column.name: getattr(made, column.name) for column in Order.__table__.columns}
        rows = [
            columns | {"id": f"copy-{number}", "number": 10_000 + number} for number in range(LATEST_ORDERS_OF_SPAN)
        ]
        db.session.execute(insert(Order), rows)
    top = part(ada, "top-products")
    assert "In the latest 2,000 orders, since" in top and "The mug" in top and "The tent" not in top
