"""What the filters of a listing are called and how they are drawn."""

from __future__ import annotations

from app.domain.merchandising.facets import default_facets, filters_of, shared_definition
from app.domain.merchandising.tree import Display, Facet
from app.domain.taxonomy.tree import Attribute, AttributeType

ATTRIBUTES = {
    attribute.id: attribute
    for attribute in (
        Attribute("size", "Size", AttributeType.SINGLE_SELECT),
        Attribute("weight", "Weight", AttributeType.NUMBER, display_label="Carried weight", unit="kg"),
        Attribute("lined", "Lined", AttributeType.BOOLEAN),
        Attribute("main-colour", "Main colour", AttributeType.MULTI_SELECT),
    )
}


def displays(*facets: Facet) -> dict[str, Display]:
    return {filter.facet_id: filter.display for filter in filters_of(facets, ATTRIBUTES)}


def test_filters_keep_their_order_and_take_their_names():
    filters = filters_of([Facet("weight"), Facet("manufacturer"), Facet("size", label="Sizes")], ATTRIBUTES)
    assert [filter.label for filter in filters] == ["Carried weight", "Brand", "Sizes"]
    assert [filter.unit for filter in filters] == ["kg", None, None]


def test_a_filter_is_drawn_as_what_it_counts():
    assert displays(Facet("weight"), Facet("price"), Facet("lined"), Facet("inStock"), Facet("rating")) == {
        "weight": Display.RANGE,
        "price": Display.RANGE,
        "lined": Display.TOGGLE,
        "inStock": Display.TOGGLE,
        "rating": Display.RANGE,
    }


def test_choices_are_a_list_or_swatches_as_configured():
    assert displays(Facet("size", Display.SWATCH), Facet("main-colour")) == {
        "size": Display.SWATCH,
        "main-colour": Display.LIST,
    }
    assert displays(Facet("size", Display.TOGGLE)) == {"size": Display.LIST}


def test_a_range_over_choices_is_left_out():
    assert displays(Facet("size", Display.RANGE), Facet("manufacturer", Display.RANGE)) == {}


def test_attributes_of_no_active_taxonomy_are_left_out():
    assert displays(Facet("gone")) == {}


def test_facets_by_id_alone_are_drawn_as_suits_them():
    facets = default_facets(["manufacturer", "price", "main-colour", "size", "lined"], ATTRIBUTES)
    assert [facet.display for facet in facets] == [
        Display.LIST,
        Display.RANGE,
        Display.SWATCH,
        Display.LIST,
        Display.TOGGLE,
    ]


def test_a_facet_named_twice_is_drawn_once():
    assert len(filters_of([Facet("size"), Facet("size")], ATTRIBUTES)) == 1


def test_a_range_has_the_unit_on_which_all_levels_agree():
    in_kg, in_g, plain = (Attribute("weight", "Weight", AttributeType.NUMBER, unit=unit) for unit in ("kg", "g", None))
    assert shared_definition([plain, in_kg, in_kg]).unit == "kg"
    assert shared_definition([in_kg, in_g]).unit is None
    assert shared_definition([plain]) == plain
