"""The bar of categories: in the order of the tree, the rest behind More."""

from __future__ import annotations

import pytest

from app.domain.merchandising.tree import ShopNode, menu


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
