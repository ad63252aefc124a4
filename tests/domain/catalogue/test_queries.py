from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from sqlalchemy import event, text

from app.domain.catalogue import product_images, products, queries, terms
from app.domain.catalogue.listing import PAGE_SIZE, ProductList, ProductOrder, Shown, Stock
from app.domain.catalogue.models import Product
from app.domain.catalogue.pictures import StoredImage
from app.domain.catalogue.product_rules import ProductDraft
from app.domain.catalogue.queries import MOST_FOUND
from app.domain.shared.author import Author
from app.extensions import db
from app.transaction import transaction
from tests.fakes.clock import StoppedClock

TENT = ProductDraft(sku="T-1", name="Ridge tent", price=12_000, manufacturer="Fellside", stock=3)
SHOP = (
    TENT,
    ProductDraft(sku="100%", name="50%_off stove", price=900, manufacturer="Fellside", stock=0),
    ProductDraft(sku="B_1", name="Boots", price=8_000, manufacturer="O'Brien", enabled=False),
    ProductDraft(sku="BX1", name="Émile’s bottle", price=1_500, seo_name="water-bottle", stock=9),
)


@pytest.fixture
def shop(clock: StoppedClock, site_id: int) -> int:
    with transaction():
        for draft in SHOP:
            products.create(Author(site_id, "Mia", clock), draft, ())
            clock.move(minutes=1)
    return site_id


@contextmanager
def statements() -> Iterator[list[str]]:
    seen: list[str] = []

    def note(*details: object) -> None:
        seen.append(str(details[2]))

    event.listen(db.engine, "before_cursor_execute", note)
    yield seen
    event.remove(db.engine, "before_cursor_execute", note)


def skus(site_id: int, **request: object) -> list[str]:
    return [row.sku for row in queries.list_products(site_id, ProductList(**request)).items]  # type: ignore[arg-type]


def test_the_latest_change_comes_first(shop: int) -> None:
    assert skus(shop) == ["BX1", "B_1", "100%", "T-1"]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("TENT", ["T-1"]),
        ("t-1", ["T-1"]),
        ("water-b", ["BX1"]),
        ("%", ["100%"]),
        ("_", ["B_1", "100%"]),
        ("0%_", ["100%"]),
        ("b_1", ["B_1"]),
        ("'", []),
        ("\\", []),
        ("émile", ["BX1"]),
        ("nothing", []),
    ],
)
def test_words_are_found_to_the_letter_but_for_case(shop: int, words: str, found: list[str]) -> None:
    assert skus(shop, words=words) == found


def test_filters_narrow_together(shop: int) -> None:
    assert skus(shop, shown=Shown.DISABLED) == ["B_1"]
    assert skus(shop, manufacturer="Fellside") == ["100%", "T-1"]
    assert skus(shop, manufacturer="Fellside", stock=Stock.OUT) == ["100%"]
    assert skus(shop, stock=Stock.UNCOUNTED) == ["B_1"]
    assert skus(shop, manufacturer="' OR 1=1 --") == []


def test_every_order_orders(shop: int) -> None:
    assert skus(shop, order=ProductOrder.PRICE) == ["100%", "BX1", "B_1", "T-1"]
    assert skus(shop, order=ProductOrder.PRICE_DOWN) == ["T-1", "B_1", "BX1", "100%"]
    assert skus(shop, order=ProductOrder.STOCK) == ["100%", "T-1", "BX1", "B_1"]
    assert skus(shop, order=ProductOrder.SKU) == ["100%", "BX1", "B_1", "T-1"]


def test_conditions_of_other_contexts_narrow_further(shop: int) -> None:
    assert queries.list_products(shop, ProductList(), [Product.sku == "T-1"]).total_items == 1
    assert queries.list_products(shop, ProductList(), [Product.taxonomy_level_id.in_([])]).items == []


def test_past_the_last_page_there_is_nothing_but_the_total(shop: int) -> None:
    page = queries.list_products(shop, ProductList(page=99))
    assert (page.items, page.total_items, page.total_pages, page.first_item) == ([], 4, 1, 0)


def test_a_full_page_costs_three_statements(clock: StoppedClock, site_id: int) -> None:
    with transaction():
        for number in range(PAGE_SIZE + 5):
            draft = replace(TENT, sku=f"T-{number}")
            product_id = products.create(Author(site_id, "Mia", clock), draft, ()).product.id
            product_images.add(Author(site_id, "Mia", clock), product_id, StoredImage(f"{number:032}.webp", 10, 10), "")
    db.session.rollback()
    with statements() as seen:
        page = queries.list_products(site_id, ProductList())
    assert (len(page.items), page.total_items, page.last_item) == (PAGE_SIZE, PAGE_SIZE + 5, PAGE_SIZE)
    assert all(row.image for row in page.items)
    assert len([one for one in seen if one.startswith("SELECT")]) == 3


def test_a_lookup_shows_a_whole_sku_first_and_at_most_ten(clock: StoppedClock, site_id: int) -> None:
    with transaction():
        for number in range(15):
            products.create(Author(site_id, "Mia", clock), replace(TENT, sku=f"T-{number}"), ())
    found = queries.find_products(site_id, " T-1 ")
    assert (found[0].sku, len(found)) == ("T-1", 7)
    assert len(queries.find_products(site_id, "tent")) == 10
    assert queries.find_products(site_id, " ") == []


def test_a_lookup_finds_what_contains_the_words_as_typed_and_words_apart_only_where_nothing_does(
    clock: StoppedClock, site_id: int
) -> None:
    names = ("Beko HIC64402E hob", "Zanussi Beko hob", "Beko oven", "100% wool hob", "100x wool hob")
    with transaction():
        for number, name in enumerate(names):
            products.create(Author(site_id, "Mia", clock), replace(TENT, sku=f"B-{number}", name=name), ())
    db.session.rollback()
    with statements() as seen:
        found = [row.sku for row in terms.find_with_terms(site_id, " beko  hob ")]
    assert found == ["B-1"]
    assert len([one for one in seen if one.startswith("SELECT")]) == 1
    assert [row.sku for row in queries.find_products(site_id, "beko hob")] == ["B-1"]
    assert [row.sku for row in queries.find_products(site_id, "hob beko")] == ["B-0", "B-1"]
    assert [row.sku for row in queries.find_products(site_id, "hob B-0")] == ["B-0"]
    assert [row.sku for row in queries.find_products(site_id, "hob 100%")] == ["B-3"]
    assert queries.find_products(site_id, "beko tent") == []


def test_manufacturers_are_offered_by_their_letters(shop: int, other_site_id: int) -> None:
    assert queries.manufacturers(shop, "") == ["Fellside", "O'Brien"]
    assert queries.manufacturers(shop, "fell") == ["Fellside"]
    assert queries.manufacturers(other_site_id, "") == []


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_list_that_is_too_long_to_count_says_so_and_ends_there(site_id: int, clock: StoppedClock) -> None:
    columns = "site_id, sku, name, seo_name, manufacturer, description, price, enabled, featured, search_terms"
    values = f"{site_id}, 'S-' || n, 'Kettle', 's-' || n, '', '', 1, 1, 0, '[]', 1, '{{}}'"
    times = "'2026-11-01 00:00:00', '2026-11-01 00:00:00'"
    numbers = f"with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n <= {MOST_FOUND})"
    into = f"insert into products ({columns}, revision, taxonomy_attributes, created_at, updated_at)"
    with transaction():
        db.session.execute(text(f"{into} {numbers} select {values}, {times} from numbers"))
    found = queries.list_products(site_id, ProductList(words="kettle"))
    assert (found.total_items, found.has_more, len(found.items)) == (MOST_FOUND, True, PAGE_SIZE)
    last = queries.list_products(site_id, ProductList(words="kettle", page=MOST_FOUND // PAGE_SIZE))
    beyond = queries.list_products(site_id, ProductList(words="kettle", page=MOST_FOUND // PAGE_SIZE + 1))
    assert (len(last.items), len(beyond.items)) == (PAGE_SIZE, 0)
    assert not queries.list_products(site_id, ProductList()).has_more
