"""Pages that a search finds: above the products only by their title."""

from __future__ import annotations

import pytest

from app.domain.merchandising.shop import ContentLink
from app.domain.search.listings.content import has_words, sorted_by_title


@pytest.mark.parametrize(
    ("title", "searched"),
    [
        ("Delivery and returns", "delivery"),
        ("Delivery and returns", "RETURN"),
        ("Delivery and returns", "returns of the delivery"),
        ("Delivery and returns", "deliv"),
        ("Size guide", "size gui"),
        ("To the", "to the"),
    ],
)
def test_a_title_has_the_words(title: str, searched: str):
    assert has_words(title, searched)


@pytest.mark.parametrize(
    ("title", "searched"),
    [("Delivery", "tent"), ("Delivery", "delivery tent"), ("Size guide", "gui size"), ("Delivery", ""), ("", "tent")],
)
def test_a_title_lacks_them(title: str, searched: str):
    assert not has_words(title, searched)


def test_pages_keep_their_order_on_both_sides():
    links = [ContentLink(name, f"/pages/{place}") for place, name in enumerate(("Tents", "Care", "Tent pegs", "About"))]
    hits = sorted_by_title(links, "tent")
    assert [link.name for link in hits.titled] == ["Tents", "Tent pegs"]
    assert [link.name for link in hits.others] == ["Care", "About"]
