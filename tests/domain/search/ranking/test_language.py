"""The words of the language."""

from __future__ import annotations

import pytest

from app.domain.search.ranking.language import is_word
from app.domain.search.text import words


def test_what_people_write_is_a_word_also_as_a_plural_without_its_ending() -> None:
    singulars = "couch lighting bake baking hike hiking colour jewellery a the zzz"
    plurals = "trousers glasses shelves series knives clothes scissors"
    assert [word for word in words(f"{singulars} {plurals}") if not is_word(word)] == []


def test_misspellings_and_numbers_are_no_words() -> None:
    typed = "recieve wireles keybord seperate teh alot definately qwzx 27 rj45 .* t.e"
    assert [word for word in typed.split() if is_word(word)] == []


def test_rare_words_are_none_unless_they_are_wanted() -> None:
    assert (is_word("hyrax"), is_word("hyrax", rarest=0), is_word("couch", rarest=10**9)) == (False, True, False)


@pytest.mark.parametrize("typed", ["", " ", "\n", "\nthe", "the\n", "the\nof", "é"])
def test_what_is_no_single_word_is_none(typed: str) -> None:
    assert not is_word(typed)
