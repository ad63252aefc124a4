"""Everything that a product's page shows."""

from __future__ import annotations

import pytest
from flask import Flask

from app.domain.catalogue.models import Product, ProductImage, Variant
from app.domain.catalogue.product_drawings import DYES
from app.domain.merchandising.product_pages import Fact, product_page, value_text
from app.domain.merchandising.shop import Shop, read_shop
from app.domain.shared.problems import NotFound
from app.domain.taxonomy.models import Taxonomy
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.storefront import small_shop
from tests.snapshots import built


@pytest.fixture
def shop(app: Flask, context: None) -> Shop:
    return read_shop(built(app, small_shop.build))


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
    assert product_page(shop, "tent-5").facts == (Fact("Weight", "0 kg"), Fact("Waterproof", "No"))


@pytest.mark.parametrize("order", [1, -1])
def test_the_colour_of_a_drawing_does_not_depend_on_the_order_of_attributes(shop: Shop, order: int):
    attributes = {"colour": True, "print-colours": ["Cyan", "Red"], "trim-colour": "Green"}
    change("tent-5", taxonomy_attributes=dict([*attributes.items()][::order]), images=[])
    pictures = product_page(shop, "tent-5").pictures
    assert all(DYES["#00ffff"][1:] in picture.url for picture in pictures)


def test_a_drawing_has_the_colour_of_the_chosen_variant(shop: Shop):
    with transaction():
        tent = db.session.query(Product).filter_by(seo_name="tent-5").one()
        tent.images = []
        tent.variants = [
            Variant(site_id=shop.site_id, position=place, sku=f"T-{name}", options={"Colour": name})
            for place, name in enumerate(("Moss", "Clay"))
        ]
    shown = {sku: product_page(shop, "tent-5", sku).pictures[0].url for sku in ("T-Moss", "T-Clay")}
    assert "/6b7a3d-" in shown["T-Moss"] and "/b66a50-" in shown["T-Clay"]


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


def test_the_nearest_definition_says_how_a_value_is_shown_and_where(context: None):
    def level(level_id: str, attributes: list[dict[str, object]], *children: object) -> dict[str, object]:
        return {"levelId": level_id, "name": level_id, "attributes": attributes, "children": list(children)}

    def shown(attribute_id: str, label: str, order: int = 0, on_page: bool = True) -> dict[str, object]:
        names = {"attributeId": attribute_id, "name": attribute_id, "displayLabel": label, "type": "STRING"}
        return names | {"displayOnProductPage": on_page, "displayOrder": order}

    below = level("mug", [shown("b", "Second", 2), shown("a", "First", 1), shown("quiet", "Quiet", on_page=False)])
    levels = [level("kitchen", [shown("a", "Not this"), shown("top", "Top"), shown("quiet", "Loud")], below)]
    site_id = small_shop.build()
    with transaction():
        db.session.query(Taxonomy).filter_by(site_id=site_id).one().root_levels = levels
    values = {"a": "A", "b": "B", "top": "T", "quiet": "Q"}
    change("tent-5", taxonomy_level_id="mug", taxonomy_attributes=values, manufacturer="")
    facts = product_page(read_shop(site_id), "tent-5").facts
    assert facts == (Fact("Top", "T"), Fact("First", "A"), Fact("Second", "B"))


def test_values_from_before_a_change_of_type_do_not_break_the_page(shop: Shop):
    change("tent-5", taxonomy_attributes={"weight": "light", "waterproof": "very"}, manufacturer="")
    assert product_page(shop, "tent-5").facts == (Fact("Weight", "light"), Fact("Waterproof", "very"))


def test_the_picture_of_the_chosen_variant_comes_first(shop: Shop):
    with transaction():
        product = db.session.query(Product).filter_by(seo_name="tent-3").one()
        for place, colour in enumerate(("red", "blue")):
            image = {"site_id": shop.site_id, "position": place, "file": f"{colour}.webp", "width": 40, "height": 30}
            product.images.append(ProductImage(**image, alt=colour))
        by_sku = {variant.sku: variant for variant in product.variants}
        by_sku["S-3-L"].picture = "blue.webp"

    def shown(sku: str) -> list[str]:
        return [picture.alt for picture in product_page(shop, "tent-3", sku).pictures]

    assert shown("S-3-L") == ["blue", "red"]
    assert all(shown(sku) == ["red", "blue"] for sku in by_sku if sku != "S-3-L")
