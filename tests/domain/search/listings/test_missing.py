"""The words of an address that has no page, and the categories near it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.merchandising.tree import ShopNode, ShopTree
from app.domain.search.listings.recommendations import LONGEST_WORD, MOST_WORDS, nearest_categories, words_of_address


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/p/fell-tent-99", "fell tent 99"),
        ("/c/camping/old-tents", "old tents"),
        ("/shop/products/Fell_Tent.html", "fell tent"),
        ("/collections/caf%C3%A9", "caf c3 a9"),
        ("/collections/café", "cafe"),
        ("/one-two-three-four-five-six-seven", "one two three four five six"),
        ("/c", ""),
        ("/p/4711", ""),
        ("/wp-login.php", ""),
        ("/.env", ""),
        ("/media/1/fell-tent", ""),
        ("/order/secret-token", ""),
        ("/r/secret-token", ""),
        ("/", ""),
    ],
)
def test_the_last_step_of_an_address_has_its_words(path: str, words: str) -> None:
    assert words_of_address(path) == words


@given(st.text())
def test_whatever_stands_in_an_address_its_words_are_few_and_short(path: str) -> None:
    found = words_of_address(f"/{path}").split()
    assert len(found) <= MOST_WORDS and all(len(word) <= LONGEST_WORD for word in found)


def tree() -> ShopTree:
    named = {1: ("camping", "Camping"), 2: ("camping/tents", "Tents"), 3: ("camping/tent-pegs", "Tent pegs")}
    nodes = [
        ShopNode(id, 1, None if id == 1 else 1, name, path.rpartition("/")[2], path, visible=True)
        for id, (path, name) in named.items()
    ]
    hidden = ShopNode(4, 1, None, "Old tents", "old-tents", "old-tents", visible=False)
    return ShopTree([*nodes, hidden], {}, 1)


def paths(path: str) -> list[str]:
    return [node.path for node in nearest_categories(tree(), path, words_of_address(path))]


def test_categories_with_most_of_the_words_come_first_and_hidden_ones_never() -> None:
    assert paths("/shop/old-tents") == ["camping/tents", "camping/tent-pegs"]
    assert paths("/tent-pegs") == ["camping/tent-pegs", "camping/tents"]


def test_the_nearest_category_above_the_address_is_named_too() -> None:
    assert paths("/c/camping/tents/gone") == ["camping/tents"]
    assert paths("/c/camping/none/gone") == ["camping"]
    assert paths("/c/none/gone") == []
