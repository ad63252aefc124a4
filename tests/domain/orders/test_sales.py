"""What sold in the last 90 days, counted from orders and held by the index."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import Connection, delete, event, select
from sqlalchemy.exc import OperationalError

from app.domain.catalogue.models import Product
from app.domain.orders.models import ProductSales
from app.domain.orders.sales import count_sales, products_with_sales
from app.domain.search.engine import SearchContext
from app.domain.search.index.documents import product_documents
from app.domain.search.index.outbox import apply_waiting
from app.domain.search.index.rebuild import rebuild
from app.domain.search.index.reconcile import reconcile
from app.domain.search.models import OutboxEntry
from app.domain.search.ranking.scoring import SALES
from app.domain.sites.models import Site
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_order, make_product, make_site
from tests.searching import request

pytestmark = pytest.mark.usefixtures("context")
SHOP, OTHER = "shop.test", "other.test"


@pytest.fixture
def site_id(indexing: SearchContext) -> int:
    """A shop with a mug, of which two orders bought three, and a kettle, whose order was cancelled; another shop's
    order of its own mug."""
    now = indexing.clock.now()
    with transaction():
        site, other = make_site(SHOP), make_site(OTHER)
        mug, kettle = make_product(site, "MUG"), make_product(site, "KETTLE")
        sold(site, mug, 2, now - timedelta(days=89))
        sold(site, mug, 1, now)
        sold(site, mug, 50, now - timedelta(days=91))
        sold(site, kettle, 4, now, "CANCELLED")
        sold(site, kettle, 4, now, "OPEN")
        sold(other, make_product(other, "MUG"), 7, now)
        site_id = site.id
    rebuild(indexing, request(indexing, site_id, "PRODUCTS"))
    return site_id


def sold(site: Site, product: object, units: int, at: object, status: str = "SUBMITTED") -> None:
    order = make_order(site, product, status, submitted_at=at)  # type: ignore[arg-type]
    order.lines[0].quantity = units


def count(indexing: SearchContext, site_id: int) -> int:
    with transaction():
        return count_sales(indexing.clock, site_id)


def indexed(site_id: int) -> dict[object, float | None]:
    return {document.card["sku"]: document.numbers.get(SALES) for document in product_documents(site_id)}


def test_units_of_ninety_days_are_counted_and_indexed(indexing: SearchContext, site_id: int) -> None:
    assert count(indexing, site_id) == 1
    assert indexed(site_id) == {"MUG": 3.0, "KETTLE": None}
    assert products_with_sales(site_id) == 1
    apply_waiting(indexing, site_id)
    report = reconcile(indexing, site_id)
    assert report and (report.stale, report.missing) == (0, 0)


def test_only_products_whose_sales_changed_are_indexed_again(indexing: SearchContext, site_id: int) -> None:
    count(indexing, site_id)
    apply_waiting(indexing, site_id)
    assert count(indexing, site_id) == 0
    assert db.session.scalars(select(OutboxEntry).where(OutboxEntry.site_id == site_id)).all() == []


def test_sales_that_are_long_ago_go_from_the_index(indexing: SearchContext, site_id: int) -> None:
    count(indexing, site_id)
    indexing.clock.move(days=2)  # type: ignore[attr-defined]
    assert count(indexing, site_id) == 1
    assert indexed(site_id) == {"MUG": 1.0, "KETTLE": None}
    indexing.clock.move(days=90)  # type: ignore[attr-defined]
    assert count(indexing, site_id) == 1
    assert indexed(site_id) == {"MUG": None, "KETTLE": None}
    assert db.session.scalars(select(ProductSales)).all() == []


# SQLite lets nobody write while a count does.
beside_others = pytest.mark.parametrize("database_kind", ["postgresql"], indirect=True)


@pytest.fixture
def other(app: Flask) -> Iterator[Connection]:
    """A connection of another process."""
    with app.app_context(), db.engine.connect() as connection:
        yield connection


@contextmanager
def once_sales_are_read(do: Callable[[], None]) -> Iterator[None]:
    def after(_connection: object, _cursor: object, sql: str, *_: object) -> None:
        if "sum(order_lines.quantity)" in sql:
            do()

    event.listen(db.engine, "after_cursor_execute", after)
    try:
        yield
    finally:
        event.remove(db.engine, "after_cursor_execute", after)


@beside_others
def test_a_product_that_is_deleted_meanwhile_keeps_no_other_from_being_counted(
    indexing: SearchContext, site_id: int, other: Connection
) -> None:
    site = db.session.get_one(Site, site_id)
    with transaction():
        kept = make_product(site, "KEPT")
        sold(site, kept, 5, indexing.clock.now())
    count(indexing, site_id)
    with transaction():
        for sku in ("NEW", "KETTLE-2"):
            sold(site, make_product(site, sku), 1, indexing.clock.now())
        sold(site, kept, 1, indexing.clock.now())
    going = db.session.scalars(select(Product.id).where(Product.site_id == site_id, Product.sku.in_(("NEW", "MUG"))))
    gone = going.all()

    def delete_them() -> None:
        other.execute(delete(Product.__table__).where(Product.__table__.c.id.in_(gone)))
        other.commit()

    with once_sales_are_read(delete_them):
        assert count(indexing, site_id) == 2
    assert indexed(site_id) == {"KETTLE": None, "KETTLE-2": 1.0, "KEPT": 6.0}


@beside_others
def test_a_product_that_is_just_being_deleted_is_not_waited_for(
    indexing: SearchContext, site_id: int, other: Connection
) -> None:
    other.execute(
        delete(Product.__table__).where(Product.__table__.c.sku == "MUG", Product.__table__.c.site_id == site_id)
    )
    assert count(indexing, site_id) == 0
    other.rollback()
    assert count(indexing, site_id) == 1


@beside_others
def test_two_counts_of_a_shop_follow_one_after_the_other(
    indexing: SearchContext, site_id: int, other: Connection
) -> None:
    at_once = select(Site.id).where(Site.id == site_id).with_for_update(key_share=True, nowait=True)
    refused = []

    def count_too() -> None:
        with pytest.raises(OperationalError, match="could not obtain lock"):
            other.execute(at_once)
        refused.append(True)
        other.rollback()

    with once_sales_are_read(count_too):
        count(indexing, site_id)
    assert refused
    other.execute(at_once)
