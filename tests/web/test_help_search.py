"""Search over texts of the release: by words and their forms, best first."""

from __future__ import annotations

import pytest

from app.web.help_search import HelpIndex

INDEX = HelpIndex(
    (title, ((title, 8), (text, 1)))
    for title, text in (
        ("Add a synonym", "Two words find the same products."),
        ("Pin a product", "A rule pins a product to the first place of a search."),
        ("Redirect an old address", "Visitors are sent to the new address."),
        ("Close the till", "Count the drawer; the products stay."),
    )
)


@pytest.mark.parametrize(
    ("typed", "best"),
    [
        ("synonym", "Add a synonym"),
        ("synonyms", "Add a synonym"),
        ("adding synonyms", "Add a synonym"),
        ("how do I pin products?", "Pin a product"),
        ("redirecting addresses", "Redirect an old address"),
        ("COUNTING", "Close the till"),
    ],
)
def test_words_are_found_in_all_their_forms(typed: str, best: str) -> None:
    assert INDEX.find(typed)[0] == best


def test_the_last_word_may_still_be_typed() -> None:
    assert INDEX.find("old addr") == ["Redirect an old address"]
    assert INDEX.find("addr old") == ["Redirect an old address"], "it has the only word that is known"


def test_a_misspelt_word_finds_what_it_nearly_is() -> None:
    assert INDEX.find("synonim") == ["Add a synonym"]


def test_a_title_counts_more_than_a_text() -> None:
    assert INDEX.find("product") == ["Pin a product", "Add a synonym", "Close the till"]


def test_what_has_far_less_of_the_words_is_left_out() -> None:
    assert INDEX.find("pin the product of a search") == ["Pin a product"]
    assert INDEX.find("two products") == ["Add a synonym", "Pin a product"]


def test_a_word_that_no_text_has_is_left_out() -> None:
    assert INDEX.find("qwertz drawer") == ["Close the till"]


@pytest.mark.parametrize("typed", ["", " ", "?!", "qwertz", "the of", "日本"])
def test_nothing_is_found_without_a_word_that_some_text_has(typed: str) -> None:
    assert INDEX.find(typed) == []
