from __future__ import annotations

import pytest

from app.domain.catalogue import terms
from app.domain.catalogue.models import Product
from app.domain.catalogue.terms import find_with_terms, product_with_terms, products_with_terms
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, NotFound
from app.extensions import db
from app.transaction import transaction
from tests.factories import WHEN
from tests.fakes.clock import StoppedClock


def add(site_id: int, sku: str, name: str, *found_by: str) -> int:
    with transaction():
        product = Product(site_id=site_id, sku=sku, seo_name=sku.lower(), name=name, price=100)
        product.created_at = product.updated_at = WHEN
        product.search_terms = list(found_by)
        db.session.add(product)
        db.session.flush()
        return product.id


@pytest.fixture
def shop(site_id: int, other_site_id: int) -> int:
    add(site_id, "T-1", "Ridge tent", "shelter", "Zelt für zwei")
    add(site_id, "B-1", "Walking boots", "hiking shoes", "100% dry")
    add(site_id, "S-1", "Stove")
    add(other_site_id, "T-1", "Their tent", "shelter")
    return site_id


def listed(site_id: int, words: str = "") -> set[str]:
    return {row.sku for row in products_with_terms(site_id, words, 1).items}


def test_only_products_of_the_site_that_have_terms_are_listed(shop: int) -> None:
    assert listed(shop) == {"T-1", "B-1"}


@pytest.mark.parametrize(
    ("words", "skus"),
    [
        ("ridge", {"T-1"}),
        ("b-1", {"B-1"}),
        ("HIKING SHOES", {"B-1"}),
        ("FÜR", {"T-1"}),
        ('shoes", "100', set()),
        ("%", {"B-1"}),
        ("stove", set()),
        ("\\u00fc", set()),
    ],
)
def test_the_list_narrows_by_name_sku_or_term(shop: int, words: str, skus: set[str]) -> None:
    assert listed(shop, words) == skus


def test_the_list_comes_in_pages(shop: int) -> None:
    first, second = (products_with_terms(shop, "", number, page_size=1) for number in (1, 2))
    assert (first.total_items, first.total_pages) == (2, 2)
    assert {first.items[0].sku, second.items[0].sku} == {"T-1", "B-1"}
    assert products_with_terms(shop, "", 3, page_size=1).items == []


def test_the_lookup_finds_products_without_terms_too_and_a_whole_sku_first(shop: int) -> None:
    add(shop, "X", "A stove for T-1")
    assert [row.sku for row in find_with_terms(shop, "T-1")] == ["T-1", "X"]
    assert find_with_terms(shop, "stove")[0].terms == []
    assert find_with_terms(shop, " ") == []


def test_one_product_is_looked_up_within_its_site(shop: int, other_site_id: int) -> None:
    own = products_with_terms(shop, "ridge", 1).items[0]
    assert product_with_terms(shop, own.id) == own
    with pytest.raises(NotFound):
        product_with_terms(other_site_id, own.id)


def test_terms_that_somebody_else_changed_meanwhile_are_not_replaced(shop: int, clock: StoppedClock) -> None:
    seen = products_with_terms(shop, "ridge", 1).items[0]
    with transaction():
        terms.add_terms(Author(shop, "Ann", clock), seen.id, ["bivvy"])
    with pytest.raises(Conflict), transaction():
        terms.replace_terms(Author(shop, "Ben", clock), seen.id, ["shelter"], read=seen.terms)
    assert product_with_terms(shop, seen.id).terms == [*seen.terms, "bivvy"]


def test_two_people_who_want_the_same_terms_do_not_clash(shop: int, clock: StoppedClock) -> None:
    seen = products_with_terms(shop, "ridge", 1).items[0]
    for actor in ("Ann", "Ben"):
        with transaction():
            assert terms.replace_terms(Author(shop, actor, clock), seen.id, ["shelter"], read=seen.terms) == ["shelter"]
