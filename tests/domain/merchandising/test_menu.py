"""The bar of categories: in the order of the tree, the rest behind More."""

from __future__ import annotations

import pytest

from app.domain.merchandising.tree import MOST_MENU_LINKS, ShopNode, ShopTree, has_deep_menu, menu


def roots(*names: str) -> list[ShopNode]:
    return [ShopNode(place, 1, None, name, name.lower(), name.lower()) for place, name in enumerate(names, 1)]


def test_what_fits_stands_in_the_bar_in_the_order_of_the_tree():
    made = menu(roots("Tools", "Art", "Zoo"), room=100)
    assert [root.name for root in made.shown] == ["Tools", "Art", "Zoo"] and not made.more


def test_the_rest_is_behind_more_and_no_short_name_overtakes_a_long_one():
    made = menu(roots("Tools", "Kitchen appliances", "Zoo", "Art"), room=20)
    assert [root.name for root in made.shown] == ["Tools"]
    assert [root.name for root in made.more] == ["Kitchen appliances", "Zoo", "Art"]


@pytest.mark.parametrize("count", [0, 1])
def test_a_menu_of_little_needs_no_more(count: int):
    made = menu(roots(*["A very long name indeed"] * count), room=5)
    assert len(made.shown) == count and not made.more


@pytest.mark.parametrize(("leaves", "is_deep"), [(MOST_MENU_LINKS - 2, True), (MOST_MENU_LINKS - 1, False)])
def test_the_menu_of_all_categories_has_a_third_level_where_its_links_are_not_too_many(leaves: int, is_deep: bool):
    root, child = ShopNode(1, 1, None, "Home", "home", "home"), ShopNode(2, 1, 1, "Living", "living", "home/living")
    below = [ShopNode(3 + n, 1, 2, f"Kind {n}", f"kind-{n}", f"home/living/kind-{n}") for n in range(leaves)]
    deeper = ShopNode(1_000, 1, 3, "Deeper", "deeper", "home/living/kind-0/deeper")
    assert has_deep_menu(ShopTree([root, child, *below, deeper], {}, primary_tree_id=1)) is is_deep
