"""The documents of products, pages and collections follow from the facts about them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from app.domain.merchandising.tree import ShopNode, ShopTree
from app.domain.search.engine import IndexDocument
from app.domain.search.index.documents import (
    ContentFacts,
    DocumentPicture,
    ProductFacts,
    VariantFacts,
    content_document,
    product_document,
)
from app.domain.search.ranking.scoring import LOW_STOCK, SALES
from app.domain.taxonomy.tree import TaxonomyTree


def attribute(id: str, type: str, *allowed: str) -> dict[str, object]:
    return {"attributeId": id, "name": id, "type": type, "allowedValues": list(allowed)}


TAXONOMY = TaxonomyTree.parse(
    [
        {
            "levelId": "outdoor",
            "name": "Outdoor",
            "attributes": [attribute("weight", "NUMBER"), attribute("season", "MULTI_SELECT", "Summer", "Winter")],
            "children": [
                {
                    "levelId": "tents",
                    "name": "Tents",
                    "otherNames": ["Shelters"],
                    "attributes": [
                        attribute("tent-colour", "SINGLE_SELECT", "Green", "Red"),
                        attribute("waterproof", "BOOLEAN"),
                        attribute("story", "STRING"),
                    ],
                }
            ],
        }
    ]
)
TREE = ShopTree(
    nodes=[
        ShopNode(1, 1, None, "All", "all", "all"),
        ShopNode(2, 1, 1, "Tents", "tents", "all/tents", source_levels=("tents",)),
        ShopNode(3, 1, None, "Offers", "offers", "offers"),
    ],
    tree_facets={},
    primary_tree_id=1,
)
TENT = ProductFacts(
    id=7,
    sku="TENT-1",
    name="Fjord 2",
    seo_name="fjord-2",
    manufacturer="Nordic",
    description="<p>Light &amp; dry.</p><p>For two.</p>",
    price=19900,
    compare_at_price=None,
    upc="0123456789012",
    stock=3,
    featured=False,
    rating=4.5,
    search_terms=("camping house",),
    created_at=datetime(2026, 1, 1, tzinfo=UTC),
    level_id="tents",
    attribute_values={"weight": 2.5, "season": ["Summer", "Winter"], "tent-colour": "Green", "waterproof": True},
)


def document(**changes: object) -> IndexDocument:
    return product_document(replace(TENT, **changes), TAXONOMY, TREE)  # type: ignore[arg-type]


def test_words_are_what_shoppers_search() -> None:
    made = document()
    assert (made.id, made.name, made.terms, made.manufacturer, made.kind) == (
        "p7",
        "Fjord 2",
        ("camping house",),
        "Nordic",
        "Tents",
    )
    assert made.description == "Light & dry. For two."
    assert made.attributes == "Summer Winter Green"


def test_searches_may_name_the_level_of_a_product_and_those_above_it_by_each_of_their_names() -> None:
    assert document().kind_names == ("Tents", "Shelters", "Outdoor")
    assert document(level_id="outdoor").kind_names == ("Outdoor",)
    assert document(level_id=None).kind_names == ()


def test_other_names_of_a_level_are_no_words_of_its_products() -> None:
    made = document()
    assert made.kind == "Tents"
    assert "shelters" not in f"{made.name} {made.terms} {made.description} {made.attributes}".lower()


def test_codes_are_those_of_the_product_and_of_its_variants() -> None:
    variants = (VariantFacts("TENT-1-G", "999", 1), VariantFacts("TENT-1-R", None, 1))
    assert document(variants=variants).codes == ("TENT-1", "0123456789012", "TENT-1-G", "999", "TENT-1-R")


def test_a_unit_is_no_part_of_the_index() -> None:
    in_kg = [{"levelId": "outdoor", "name": "Outdoor", "attributes": [attribute("weight", "NUMBER")]}]
    plain = product_document(replace(TENT, level_id="outdoor"), TaxonomyTree.parse(in_kg), TREE)
    in_kg[0]["attributes"] = [attribute("weight", "NUMBER") | {"unit": "kg"}]
    assert product_document(replace(TENT, level_id="outdoor"), TaxonomyTree.parse(in_kg), TREE) == plain


def test_filters_see_choices_numbers_stand_apart() -> None:
    made = document()
    assert made.values == {
        "manufacturer": ("Nordic",),
        "category": ("1", "2"),
        "level": ("outdoor", "tents"),
        "sku": ("TENT-1",),
        "inStock": ("true",),
        "season": ("Summer", "Winter"),
        "tent-colour": ("Green",),
        "waterproof": ("true",),
    }
    assert made.numbers == {"price": 19900, "rating": 4.5, "createdAt": 1767225600, "weight": 2.5, LOW_STOCK: 3}


def test_what_sold_and_what_is_nearly_gone_are_numbers_of_their_own() -> None:
    assert document(stock=5, sold=12).numbers.items() >= {LOW_STOCK: 5, SALES: 12}.items()
    for stock in (None, 0, 6):
        assert document(stock=stock).numbers.keys().isdisjoint((LOW_STOCK, SALES))
    sizes = [VariantFacts("T-S", None, 2), VariantFacts("T-L", None, 1)]
    assert document(stock=None, variants=sizes).numbers[LOW_STOCK] == 3
    assert LOW_STOCK not in document(stock=3, variants=[*sizes, VariantFacts("T-M", None, None)]).numbers


def test_a_product_placed_by_hand_is_in_that_category_and_in_those_above() -> None:
    assert document(level_id=None, placed_in=(3,)).values["category"] == ("3",)
    assert document(level_id=None, placed_in=(2,)).values["category"] == ("1", "2")


def test_values_of_attributes_that_do_not_apply_are_left_out() -> None:
    assert "tent-colour" not in document(level_id="outdoor").values
    assert "season" not in document(level_id=None).values


def test_a_text_too_long_for_a_filter_is_searched_but_not_counted() -> None:
    made = document(attribute_values={"story": "once " * 100})
    assert "story" not in made.values
    assert made.attributes.startswith("once")


@pytest.mark.parametrize(
    ("stock", "variant_stocks", "expected"),
    [(None, (), True), (1, (), True), (0, (), False), (0, (0, 2), True), (None, (0, 0), False)],
)
def test_a_product_is_in_stock_while_something_of_it_sells(
    stock: int | None, variant_stocks: tuple[int, ...], expected: bool
) -> None:
    variants = tuple(VariantFacts(f"v{n}", None, left) for n, left in enumerate(variant_stocks))
    made = document(stock=stock, variants=variants)
    assert made.card["inStock"] is expected
    assert ("inStock" in made.values) is expected


@pytest.mark.parametrize(("before", "on_sale"), [(None, False), (19900, False), (19901, True)])
def test_a_product_is_on_sale_below_its_earlier_price(before: int | None, on_sale: bool) -> None:
    assert ("onSale" in document(compare_at_price=before).values) is on_sale


def test_the_card_draws_the_product_without_the_database() -> None:
    card = document(pictures=[DocumentPicture("a.webp", 800, 600)]).card
    assert (card["image"], card["imageWidth"], card["imageHeight"]) == ("a.webp", 800, 600)
    assert (card["sku"], card["seoName"], card["price"], card["colour"]) == ("TENT-1", "fjord-2", 19900, "Green")


def test_the_card_names_a_second_picture_where_there_is_one() -> None:
    first, second = DocumentPicture("a.webp", 800, 600), DocumentPicture("b.webp", 600, 800)
    assert document(pictures=[first, second]).card["secondImage"] == "b.webp"
    assert "secondImage" not in document(pictures=[first]).card


@pytest.mark.parametrize(
    "change",
    [
        {"name": "Fjord 3"},
        {"price": 1},
        {"stock": 0},
        {"search_terms": ()},
        {"placed_in": (3,)},
        {"collections": (5,)},
        {"level_id": "outdoor"},
        {"pictures": [DocumentPicture("b.webp", 1, 1)]},
        {"description": "Dry."},
    ],
    ids=lambda change: next(iter(change)),
)
def test_the_digest_changes_with_everything_that_is_indexed(change: dict[str, object]) -> None:
    assert document(**change).digest != document().digest
    assert document().digest == document().digest


@pytest.mark.parametrize(("kind", "path"), [("page", "/pages/delivery"), ("collection", "/collections/delivery")])
def test_pages_and_collections_are_found_with_their_address(kind: str, path: str) -> None:
    made = content_document(ContentFacts(kind, 3, "Delivery", "delivery", "<h2>Free</h2><p>over £50</p>"))
    assert made.id == f"{kind}:3"
    assert made.description == "Free over £50"
    assert (made.card["type"], made.card["name"], made.card["path"]) == (kind, "Delivery", path)
    assert made.card["summary"] == "Free over £50"
