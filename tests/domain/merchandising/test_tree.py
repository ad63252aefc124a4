"""The categories of a shop and which products they show."""

from __future__ import annotations

from app.domain.merchandising.tree import Display, Facet, ShopNode, ShopTree

BRAND = Facet("manufacturer")
COLOUR = Facet("colour", Display.SWATCH)
PRICE = Facet("price", Display.RANGE)


def node(id: int, path: str, parent: int | None = None, **more) -> ShopNode:
    slug = path.rpartition("/")[2]
    return ShopNode(id, more.pop("tree_id", 1), parent, slug.title(), slug, path, **more)


def tree(*nodes: ShopNode, facets=(BRAND,)) -> ShopTree:
    return ShopTree(nodes, {1: tuple(facets)}, primary_tree_id=1)


def test_a_category_is_found_by_its_path():
    shop = tree(node(1, "tents"), node(2, "tents/family", 1))
    assert shop.at("tents/family").id == 2
    assert shop.at("family") is None
    assert shop.at("") is None


def test_a_category_below_a_hidden_one_is_hidden_too():
    shop = tree(node(1, "tents", visible=False), node(2, "tents/family", 1))
    assert shop.at("tents") is None
    assert shop.at("tents/family") is None
    assert shop.children(None) == []


def test_the_way_to_a_category_begins_at_the_root():
    shop = tree(node(1, "a"), node(2, "a/b", 1), node(3, "a/b/c", 2))
    assert [step.id for step in shop.trail(3)] == [1, 2, 3]
    assert [step.id for step in shop.ancestors(3)] == [1, 2]


def test_children_come_in_display_order_without_hidden_ones():
    shop = tree(node(3, "a"), node(1, "a/z", 3), node(2, "a/y", 3, visible=False), node(4, "a/x", 3))
    assert [child.id for child in shop.children(3)] == [1, 4]


def test_filters_are_the_category_s_own_then_its_parent_s_then_the_tree_s():
    shop = tree(node(1, "a"), node(2, "a/b", 1, own_facets=(COLOUR,)), node(3, "a/b/c", 2))
    assert shop.facets(1) == (BRAND,)
    assert shop.facets(2) == (COLOUR,)
    assert shop.facets(3) == (COLOUR,)


def test_an_empty_list_of_filters_is_a_choice_and_not_inherited_over():
    assert tree(node(1, "a", own_facets=())).facets(1) == ()


def test_a_rule_takes_products_of_its_level_and_below_and_shows_them_above():
    shop = tree(node(1, "a"), node(2, "a/b", 1, source_levels=("tents",)), node(3, "c"))
    assert shop.categories_of(["camping", "tents", "family-tents"], "Fell") == {1, 2}
    assert shop.categories_of(["camping"], "Fell") == frozenset()


def test_a_rule_of_levels_and_manufacturers_wants_both():
    shop = tree(node(1, "a", source_levels=("laptops",), source_manufacturers=("HP", "Dell")))
    assert shop.categories_of(["laptops"], "hp") == {1}
    assert shop.categories_of(["laptops"], "Acer") == frozenset()
    assert shop.categories_of(["printers"], "HP") == frozenset()


def test_a_rule_of_manufacturers_alone_takes_every_level():
    shop = tree(node(1, "a", source_manufacturers=("HP",)))
    assert shop.categories_of([], "HP") == {1}
    assert shop.categories_of([], "") == frozenset()


def test_a_product_placed_by_hand_is_shown_there_and_above():
    shop = tree(node(1, "a"), node(2, "a/b", 1))
    assert shop.categories_of([], "", [2]) == {1, 2}


def test_a_placement_in_a_category_that_is_gone_counts_nothing():
    assert tree(node(1, "a")).categories_of([], "", [99]) == frozenset()


def test_products_are_sorted_into_other_trees_which_have_no_addresses():
    shop = tree(node(1, "a"), node(5, "b", tree_id=2, source_levels=("tents",)))
    assert shop.categories_of(["tents"], "") == {5}
    assert shop.at("b") is None
    assert [root.id for root in shop.children(None)] == [1]


def test_a_product_is_at_home_in_the_deepest_shown_category():
    shop = tree(node(1, "a"), node(2, "a/b", 1), node(3, "a/c", 1), node(4, "a/d", 1, visible=False))
    assert shop.main_category({1, 2, 3, 4}).id == 2
    assert shop.main_category({4}) is None
    assert shop.main_category(()) is None


def test_a_filter_reads_its_stored_form():
    stored = {"facetId": "colour", "display": "swatch", "label": "Colour", "swatches": {"Navy": "#1b2a4e"}}
    assert Facet.read(stored) == Facet("colour", Display.SWATCH, "Colour", {"Navy": "#1b2a4e"})
    assert Facet.read({"facetId": "price", "display": "range"}) == PRICE
