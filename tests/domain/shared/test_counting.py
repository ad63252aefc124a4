"""Counts that end at a number, and the different values of a column."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from app.domain.catalogue.models import Product
from app.domain.shared.records import count_rows, distinct_values
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_product, make_site


@pytest.fixture
def shop(context: None) -> int:
    with transaction():
        site, other = make_site(), make_site("other.test")
        for number, maker in enumerate(("Fell", "Moor", "Fell", "", "Äcker")):
            make_product(site, f"S-{number}", manufacturer=maker, taxonomy_level_id=maker or None)
        make_product(other, "S-9", manufacturer="Another")
        return site.id


def products(site_id: int):  # type: ignore[no-untyped-def]
    return select(Product.id).where(Product.site_id == site_id).order_by(Product.name)


@pytest.mark.parametrize(("most", "counted"), [(10, 5), (5, 5), (4, 5), (2, 3)])
def test_counting_ends_one_above_the_most(shop: int, most: int, counted: int) -> None:
    assert count_rows(products(shop), most) == counted


def test_nothing_is_counted_as_nothing(shop: int) -> None:
    assert count_rows(products(0)) == 0


def test_each_value_of_the_site_comes_once_and_in_order(shop: int) -> None:
    found = list(db.session.scalars(distinct_values(Product.manufacturer, Product.site_id == shop)))
    assert sorted(found) == ["", "Fell", "Moor", "Äcker"]
    assert found[:3] == ["", "Fell", "Moor"]


def test_rows_without_a_value_are_left_out(shop: int) -> None:
    found = set(db.session.scalars(distinct_values(Product.taxonomy_level_id, Product.site_id == shop)))
    assert found == {"Fell", "Moor", "Äcker"}


def test_a_site_without_rows_has_no_values(shop: int) -> None:
    assert list(db.session.scalars(distinct_values(Product.manufacturer, Product.site_id == 0))) == []
