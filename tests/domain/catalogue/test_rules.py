from __future__ import annotations

from dataclasses import fields, replace

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from app.domain.catalogue.product_rules import (
    DRAFTED,
    ProductDraft,
    VariantDraft,
    clean_product,
    is_in_stock,
    is_on_sale,
    product_problems,
)
from app.domain.shared.problems import Invalid

SITE = 1
TENT = ProductDraft(sku="T-1", name="Tent", price=12_000)
SMALL = VariantDraft("T-1-S", options={"Size": "S"})
LARGE = VariantDraft("T-1-L", options={"Size": "L"})


def pointers(draft: ProductDraft) -> list[str]:
    return [problem.pointer for problem in product_problems(draft)]


def test_the_draft_has_every_declared_field() -> None:
    assert {known.column for known in DRAFTED} == {known.name for known in fields(ProductDraft)} - {"variants"}


def test_a_plain_product_has_no_problems() -> None:
    assert pointers(TENT) == []


def test_every_problem_is_reported_at_once_with_its_place() -> None:
    broken = ProductDraft(
        sku="",
        name="x" * 301,
        price=-1,
        seo_name="Not This",
        compare_at_price=10**12,
        stock=-5,
        rating=5.1,
        upc="1" * 33,
        canonical_url="javascript:alert(1)",
        variants=(replace(SMALL, sku="", price=-1),),
    )
    assert pointers(broken) == [
        "#/sku",
        "#/name",
        "#/seoName",
        "#/upc",
        "#/canonicalUrl",
        "#/price",
        "#/compareAtPrice",
        "#/stock",
        "#/rating",
        "#/variants/0/sku",
        "#/variants/0/price",
    ]


@pytest.mark.parametrize("name", ["nul\0", "bell\a", "half \ud800", "\x7f"])
def test_text_that_a_database_or_a_page_cannot_hold_is_refused(name: str) -> None:
    assert pointers(replace(TENT, name=name)) == ["#/name"]


@pytest.mark.parametrize("rating", [float("nan"), float("inf"), -0.1, pytest.param(10**350, id="350 digits")])
def test_a_rating_is_a_number_from_nought_to_five(rating: float) -> None:
    assert pointers(replace(TENT, rating=rating)) == ["#/rating"]


def test_variants_are_told_apart_by_sku_and_by_their_options() -> None:
    assert pointers(replace(TENT, variants=(SMALL, LARGE))) == []
    twice = (SMALL, replace(SMALL, options={"Size": "M"}), replace(SMALL, sku="T-1-X"))
    assert pointers(replace(TENT, variants=twice)) == ["#/variants/1/sku", "#/variants/2/options"]


def test_a_variant_says_what_sets_it_apart() -> None:
    assert pointers(replace(TENT, variants=(replace(SMALL, options={}),))) == ["#/variants/0/options"]
    assert pointers(replace(TENT, variants=(replace(SMALL, options={"Size": " "}),))) == ["#/variants/0/options"]


TYPED = st.text(st.characters(codec="utf-8", exclude_categories=("Cc",)), min_size=1, max_size=80)


@given(TYPED, TYPED, TYPED)
def test_what_was_cleaned_once_is_clean(name: str, manufacturer: str, description: str) -> None:
    draft = replace(TENT, name=name, manufacturer=manufacturer, description=description)
    try:
        clean = clean_product(SITE, draft)
    except Invalid:
        reject()
    assert clean_product(SITE, clean) == clean


def test_spaces_around_and_within_are_tidied() -> None:
    untidy = replace(TENT, sku=" T-1 ", name=" A \n tent ", upc=" ", variants=(replace(SMALL, upc=""),))
    clean = clean_product(SITE, untidy)
    assert (clean.sku, clean.name, clean.upc, clean.variants[0].upc) == ("T-1", "A tent", None, None)


def test_stock_that_is_not_counted_always_sells() -> None:
    assert is_in_stock(None)
    assert is_in_stock(3)
    assert not is_in_stock(0)


def test_with_variants_their_stock_decides() -> None:
    assert is_in_stock(0, [0, 2])
    assert is_in_stock(0, [0, None])
    assert not is_in_stock(5, [0, 0])


def test_only_a_higher_compare_price_makes_a_sale() -> None:
    assert is_on_sale(900, 1000)
    assert not is_on_sale(900, 900)
    assert not is_on_sale(900, None)
