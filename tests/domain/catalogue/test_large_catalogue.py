"""Lists of a large catalogue on PostgreSQL: none reads all products from end to end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial

import pytest
from sqlalchemy import insert, select, text

from app.domain.catalogue import queries, terms
from app.domain.catalogue.listing import Completeness, ProductList, ProductOrder, Shown, Stock
from app.domain.catalogue.models import INDEXED_SEPARATELY, Product
from app.domain.merchandising.category_rules import SourceRule
from app.domain.merchandising.membership import product_groups, shown_by
from app.domain.search.engine import IndexName
from app.domain.search.index import outbox
from app.domain.search.models import OutboxEntry
from app.domain.taxonomy import product_list
from app.domain.taxonomy.tree import TaxonomyTree
from app.extensions import db
from app.transaction import transaction
from bench.scale.plans import MANY_ROWS, examine
from tests.fakes.clock import StoppedClock

pytestmark = pytest.mark.parametrize("database_kind", ["postgresql"], indirect=True)
COUNT = 2 * MANY_ROWS


@pytest.fixture
def shop(site_id: int, clock: StoppedClock) -> int:
    """Many products with descriptions, so that reading them costs something, and as many changes that wait."""
    with transaction():
        db.session.execute(
            insert(Product),
            [_product(site_id, clock, number) for number in range(COUNT)],
            execution_options=INDEXED_SEPARATELY,
        )
        entries = [{"site_id": site_id, "kind": "product", "record_id": number} for number in range(COUNT)]
        db.session.execute(insert(OutboxEntry), entries)
    with db.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        # The log of transactions lags behind in tests, and vacuum believes only what stands in it.
        connection.execute(text("checkpoint"))
        connection.execute(text("vacuum analyze products"))
        connection.execute(text("vacuum analyze index_outbox"))
    return site_id


def _product(site_id: int, clock: StoppedClock, number: int) -> dict[str, object]:
    named = {"sku": f"S-{number}", "name": f"Kettle {number:x}", "seo_name": f"kettle-{number}", "price": number % 977}
    return named | {
        "site_id": site_id,
        "manufacturer": f"Maker {number % 50}",
        "description": "A kettle that boils and whistles. " * 20,
        "stock": None if number % 100 == 7 else number % 60,
        "enabled": number % 500 != 0,
        "search_terms": ["pot"] if number % 400 == 0 else [],
        "taxonomy_level_id": "gone" if number % 700 == 0 else f"level-{number % 20}",
        "completeness_score": 50 if number % 90 == 0 else 100,
        "created_at": clock.now(),
        "updated_at": clock.now() + timedelta(seconds=number // 500),
    }


def tables_read_from_end_to_end(work: Callable[[], object]) -> list[str]:
    _, scans = examine("work", work)
    return [f"{scan.table}: {statement.sql}" for statement, scan in scans if scan.is_sequential]


LISTS = (
    ProductList(),
    ProductList(words="kettle 4e1f"),
    ProductList(words="S-17007"),
    ProductList(shown=Shown.DISABLED),
    *(ProductList(stock=stock) for stock in Stock),
    *(ProductList(order=order) for order in ProductOrder),
    ProductList(manufacturer="Maker 7"),
    ProductList(page=20),
    *(ProductList(completeness=completeness) for completeness in Completeness),
)


def test_reading_all_of_it_would_be_noticed(shop: int) -> None:
    longest = text("select max(length(description)) from products")
    assert tables_read_from_end_to_end(lambda: db.session.scalar(longest)) == [f"products: {longest}"]


def read_from_end_to_end(works: Mapping[str, Callable[[], object]]) -> dict[str, list[str]]:
    """The tables, by the name of the work that does it."""
    found = {name: tables_read_from_end_to_end(work) for name, work in works.items()}
    return {name: tables for name, tables in found.items() if tables}


def test_every_list_of_products_reads_an_index(shop: int) -> None:
    lists = {filters.query(): partial(product_list.product_list, shop, filters) for filters in LISTS}
    assert read_from_end_to_end(lists) == {}


LOOK_UPS: dict[str, Callable[[int], object]] = {
    "products by a part of their name": lambda site_id: queries.find_products(site_id, "4e1f"),
    "products with search terms": lambda site_id: terms.products_with_terms(site_id, "", 1),
    "products with a search term": lambda site_id: terms.products_with_terms(site_id, "pot", 1),
    "manufacturers": lambda site_id: queries.manufacturers(site_id, "no such"),
    "the numbers on the dashboard": queries.counts,
    "groups that categories take alike": product_groups,
    "changes to apply": lambda site_id: outbox.oldest_entries(site_id, IndexName.PRODUCTS, 2**31 - 1),
    "since when changes wait": outbox.waiting_since,
    "changes that were set aside": outbox.set_aside,
}


def test_every_look_up_reads_an_index(shop: int) -> None:
    assert read_from_end_to_end({name: partial(work, shop) for name, work in LOOK_UPS.items()}) == {}


def test_names_of_manufacturers_are_read_once_each_and_are_those_of_all_products(shop: int) -> None:
    rule = SourceRule(levels=(), manufacturers=("maker 7",))
    _, scans = examine("work", lambda: shown_by(shop, (), [rule], TaxonomyTree()))
    assert scans == []
    expected = sorted(set(db.session.scalars(select(Product.manufacturer).where(Product.site_id == shop))))
    assert queries.manufacturers(shop, "", limit=100) == expected
