"""Which queries name a level."""

from __future__ import annotations

import pytest

from app.domain.search.ranking.scoring import phrase_of, phrases
from app.domain.search.text import query_words


def names(query: str, *level_names: str) -> bool:
    return phrase_of(query_words(query)) in phrases(level_names)


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("laptop", "Laptops"),
        ("Laptops", "Laptops"),
        ("drums", "Drums and ribbons"),
        ("ribbon", "Drums and ribbons"),
        ("a power supply", "Cases, fans and power supplies"),
        ("headset", "Headphones & headsets"),
    ],
)
def test_a_query_names_a_level_by_its_name_or_a_part_of_the_list_that_the_name_is(query: str, name: str) -> None:
    assert names(query, name)


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("laptop", "Laptop bags and sleeves"),
        ("bag", "Laptop bags and sleeves"),
        ("gaming laptop", "Laptops"),
        ("hard", "Hard drives"),
        ("and", "Drums and ribbons"),
        ("", "Drums and ribbons"),
        ("sandals", "Sand als"),
    ],
)
def test_less_or_more_than_the_name_does_not_name_it(query: str, name: str) -> None:
    assert not names(query, name)


def test_a_level_may_have_several_names() -> None:
    assert names("notebooks", "Laptops", "Notebook")
    assert not names("notebooks", "Laptops")
    assert not names("notebooks")


def test_words_that_need_not_match_name_nothing_and_prevent_nothing() -> None:
    assert phrase_of(("cheap", "laptop"), {"cheap"}) == ("laptop",)
    assert phrase_of(("cheap",), {"cheap"}) == ()
