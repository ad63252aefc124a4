"""Everything that a product's page shows."""

from __future__ import annotations

import pytest

from app.domain.catalogue.models import Product
from app.domain.merchandising.product_page import Fact, product_page, value_text
from app.domain.merchandising.shop import Shop, read_shop
from app.domain.shared.problems import NotFound
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.storefront import small_shop


@pytest.fixture
def shop(context: None) -> Shop:
    return read_shop(small_shop.build())


def change(seo_name: str, **values: object) -> None:
    with transaction():
        product = db.session.query(Product).filter_by(seo_name=seo_name).one()
        for name, value in values.items():
            setattr(product, name, value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "Yes"),
        (False, "No"),
        (3460.0, "3,460"),
        (2.13, "2.13"),
        (0, "0"),
        (["Red", "Blue"], "Red, Blue"),
        ("1440 x 900", "1440 x 900"),
    ],
)
def test_values_are_put_into_words(value: object, text: str):
    assert value_text(value) == text


def test_no_is_shown_and_nothing_is_not(shop: Shop):
    change("tent-5", taxonomy_attributes={"waterproof": False, "weight": 0, "colour": ""}, manufacturer="")
    assert product_page(shop, "tent-5").facts == (Fact("Weight in kg", "0"), Fact("Waterproof", "No"))


def test_values_of_attributes_that_no_longer_apply_are_not_shown(shop: Shop):
    change("tent-5", taxonomy_level_id=None)
    page = product_page(shop, "tent-5")
    assert page.facts == (Fact("Brand", "Fell & Fern"),)
    assert page.trail == ()


def test_a_product_placed_by_hand_alone_is_at_home_there(shop: Shop):
    change("tent-1", taxonomy_level_id=None)
    assert [step.path for step in product_page(shop, "tent-1").trail] == ["gifts"]


def test_a_compare_price_that_is_no_higher_is_not_shown(shop: Shop):
    change("tent-5", compare_at_price=5000)
    assert product_page(shop, "tent-5").compare_at_price is None
    change("tent-5", compare_at_price=5001)
    assert product_page(shop, "tent-5").compare_at_price == 5001


def test_stock_that_is_not_counted_never_runs_out(shop: Shop):
    change("tent-5", stock=None)
    page = product_page(shop, "tent-5")
    assert page.in_stock and page.few_left is None


def test_what_runs_out_is_counted_down(shop: Shop):
    change("tent-5", stock=5)
    assert product_page(shop, "tent-5").few_left == 5
    change("tent-5", stock=6)
    assert product_page(shop, "tent-5").few_left is None
    change("tent-5", stock=0)
    assert not product_page(shop, "tent-5").in_stock


def test_a_variant_that_can_be_had_makes_up_for_an_empty_product(shop: Shop):
    change("tent-3", stock=0)
    page = product_page(shop, "tent-3")
    assert (page.sku, page.price, page.in_stock, page.few_left) == ("S-3-L", 4550, True, 3)


def test_a_product_of_another_shop_is_not_there(shop: Shop):
    other = read_shop(small_shop.build("other.test"))
    change_in = db.session.query(Product).filter_by(site_id=other.site_id, seo_name="tent-5")
    with transaction():
        change_in.one().seo_name = "only-there"
    assert product_page(other, "only-there").price == 5000
    with pytest.raises(NotFound):
        product_page(shop, "only-there")
