"""The sales of days, the products that sold best, and the stock that runs out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from flask import Flask
from sqlalchemy import event, insert

from app.domain.catalogue.models import Product, Variant
from app.domain.orders.models import Order
from app.domain.orders.sales import (
    LATEST_ORDERS_OF_SPAN,
    RunningOut,
    Sales,
    SoldProduct,
    latest_since,
    running_out,
    sales_between,
    sales_by_day,
    top_products,
)
from app.domain.sites.models import Site
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_order, make_product, make_site

pytestmark = pytest.mark.usefixtures("context")
LONDON = ZoneInfo("Europe/London")
NOON = datetime(2026, 7, 10, 12, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def site(context: None) -> Site:
    with transaction():
        site = make_site()
        make_site("other.test")
    return site


def sell(site: Site, at: datetime, product: Product | None = None, units: int = 2, **more: Any) -> None:
    price, variant_id = more.pop("price", 1_250), more.pop("variant_id", None)
    with transaction():
        order = make_order(site, product, **({"status": "COLLECTED", "submitted_at": at} | more))
        line = order.lines[0]
        line.quantity, line.unit_price, line.variant_id = units, price, variant_id


def by_day(site: Site, *dates: date) -> dict[date, Sales]:
    return dict(sales_by_day(site.id, "gbp", dates, LONDON))


def test_an_order_counts_on_its_day_of_the_shops_clock(site: Site) -> None:
    sell(site, datetime(2026, 7, 9, 22, 59, tzinfo=UTC), total=1_000)
    sell(site, datetime(2026, 7, 9, 23, 0, tzinfo=UTC), total=300)  # Midnight in London.
    sell(site, datetime(2026, 7, 10, 9, 0, tzinfo=UTC), total=40, status="SUBMITTED")
    assert by_day(site, date(2026, 7, 8), date(2026, 7, 9), date(2026, 7, 10)) == {
        date(2026, 7, 9): Sales(1, 1_000),
        date(2026, 7, 10): Sales(2, 340),
    }


def test_cancelled_orders_baskets_other_currencies_and_other_shops_do_not_count(site: Site) -> None:
    with transaction():
        other = db.session.query(Site).filter(Site.id != site.id).one()
    sell(site, NOON, status="CANCELLED")
    sell(site, NOON, status="OPEN")
    sell(other, NOON)
    with transaction():
        make_order(site, submitted_at=NOON).currency = "eur"
    assert by_day(site, NOON.date()) == {}
    assert sales_between(site.id, "gbp", NOON - DAY, NOON + DAY) == Sales()
    assert top_products(site.id, "gbp", NOON - DAY, NOON + DAY, 5, by_revenue=True) == []


def test_a_span_of_time_ends_before_its_end(site: Site) -> None:
    sell(site, NOON, total=700)
    assert sales_between(site.id, "gbp", NOON, NOON + DAY) == Sales(1, 700)
    assert sales_between(site.id, "gbp", NOON - DAY, NOON) == Sales()


def test_the_sales_of_a_quarter_are_read_by_a_range_of_an_index_for_each_day(app: Flask, site: Site) -> None:
    if db.engine.dialect.name != "sqlite":
        pytest.skip("PostgreSQL reads a table this small from end to end; the benchmarks show its plans.")
    with executed() as statements:
        by_day(site, *(NOON.date() - DAY * ago for ago in range(180)))
    sql, parameters = statements[-1]
    plan = db.session.connection().exec_driver_sql(f"explain query plan {sql}", parameters)
    steps = " ".join(row[-1] for row in plan)
    assert "SEARCH orders USING INDEX ix_orders_site_id_status_submitted_at" in steps and "SCAN orders" not in steps


@contextmanager
def executed() -> Iterator[list[tuple[str, Any]]]:
    """The statements that are executed meanwhile, with their parameters."""
    seen: list[tuple[str, Any]] = []

    def note(_connection: object, _cursor: object, sql: str, parameters: Any, *_: object) -> None:
        seen.append((sql, parameters))

    event.listen(db.engine, "before_cursor_execute", note)
    yield seen
    event.remove(db.engine, "before_cursor_execute", note)


def test_the_best_sellers_are_those_of_most_revenue_or_of_most_units(site: Site) -> None:
    mug, tent = stocked(site, "MUG", None), stocked(site, "TENT", None)
    sell(site, NOON, mug, units=9, price=500)
    sell(site, NOON, tent, units=1, price=9_000)
    sell(site, NOON, units=50)  # Of something that is not in the catalogue any more.
    mugs, tents = SoldProduct(mug.id, 9, 4_500), SoldProduct(tent.id, 1, 9_000)
    assert top_products(site.id, "gbp", NOON, NOON + DAY, 5, by_revenue=True) == [tents, mugs]
    assert top_products(site.id, "gbp", NOON, NOON + DAY, 1, by_revenue=False) == [mugs]


def test_stock_runs_out_when_the_sales_of_30_days_use_it_up(site: Site) -> None:
    mug, tent = stocked(site, "MUG", 4), stocked(site, "TENT", 7)
    sell(site, NOON - 2 * DAY, mug, units=30)
    sell(site, NOON - 29 * DAY, tent, units=15)
    sell(site, NOON - 31 * DAY, mug, units=500)
    assert running_out(site.id, NOON, 14, 5) == [RunningOut(mug.id, {}, 4, 1.0), RunningOut(tent.id, {}, 7, 0.5)]
    assert [one.days_left for one in running_out(site.id, NOON, 14, 5)] == [4, 14]
    assert [one.product_id for one in running_out(site.id, NOON, 13, 5)] == [mug.id]
    assert [one.product_id for one in running_out(site.id, NOON, 14, 1)] == [mug.id]


def test_of_many_orders_the_latest_are_read(site: Site, orders_of_many: int) -> None:
    now = NOON + timedelta(hours=1)
    begin = latest_since(site.id, NOON - 30 * DAY, now)
    assert begin == NOON - timedelta(minutes=orders_of_many - 1)
    assert latest_since(site.id, NOON - timedelta(hours=1), now) == NOON - timedelta(hours=1), "they are not many"


@pytest.fixture
def orders_of_many(site: Site) -> int:
    """Two more orders than are read, a minute apart, the latest at noon; the number of those that are read."""
    with transaction():
        made = make_order(site, submitted_at=NOON, status="COLLECTED")
        columns = {column.name: getattr(made, column.name) for column in Order.__table__.columns}
        rows = [
            columns | {"id": f"copy-{n}", "number": 10_000 + n, "submitted_at": NOON - timedelta(minutes=n)}
            for n in range(1, LATEST_ORDERS_OF_SPAN + 2)
        ]
        db.session.execute(insert(Order), rows)
    return LATEST_ORDERS_OF_SPAN


@pytest.mark.parametrize("stock", [0, None])
def test_what_is_sold_out_or_not_counted_does_not_run_out(site: Site, stock: int | None) -> None:
    sell(site, NOON - DAY, stocked(site, "MUG", stock), units=30)
    assert running_out(site.id, NOON, 14, 5) == []


def test_what_shoppers_do_not_see_does_not_run_out(site: Site) -> None:
    mug = stocked(site, "MUG", 1)
    sell(site, NOON - DAY, mug, units=30)
    with transaction():
        db.session.get_one(Product, mug.id).enabled = False
    assert running_out(site.id, NOON, 14, 5) == []


def test_variants_run_out_one_by_one(site: Site) -> None:
    tent = stocked(site, "TENT", 0)
    with transaction():
        sizes = [
            Variant(site_id=site.id, product_id=tent.id, sku=f"TENT-{size}", stock=stock, options={"Size": size})
            for size, stock in (("S", 2), ("L", 90))
        ]
        db.session.add_all(sizes)
        db.session.flush()
        small, large = (size.id for size in sizes)
    sell(site, NOON - DAY, tent, units=30, variant_id=small)
    sell(site, NOON - DAY, tent, units=30, variant_id=large)
    sell(site, NOON - DAY, tent, units=30)  # Before it had variants.
    assert running_out(site.id, NOON, 14, 5) == [RunningOut(tent.id, {"Size": "S"}, 2, 1.0)]


def stocked(site: Site, sku: str, stock: int | None) -> Product:
    with transaction():
        return make_product(site, sku, stock=stock)
