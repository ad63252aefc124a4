"""Names are found by the beginnings of their words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.domain.search.suggestions import Names, Typed
from app.domain.search.text import tokens

NAMES = ("Rain coats", "Trail shoes", "Coats", "Shoes for rain", "Knives", "Café chairs")


def found(typed: str, names: tuple[str, ...] = NAMES) -> list[str]:
    return Names((name, name) for name in names).find(Typed.read([typed]))


def test_names_that_begin_like_it_come_before_those_with_such_a_word():
    assert found("co") == ["Coats", "Rain coats"]
    assert found("rain") == ["Rain coats", "Shoes for rain"]


def test_every_word_must_be_there_in_any_order():
    assert found("rain sh") == ["Shoes for rain"]
    assert found("rain kn") == []


def test_linking_words_need_not_be_there():
    assert found("coats for the rain") == ["Rain coats"]


def test_accents_case_and_plurals_make_no_difference():
    assert found("CAFE") == ["Café chairs"]
    assert found("coat") == ["Coats", "Rain coats"]
    assert found("trails") == ["Trail shoes"]


def test_nothing_typed_finds_nothing():
    assert found("") == [] and found("%%") == []


def test_a_name_comes_once_however_many_of_its_words_fit():
    assert found("ta", ("Tame table",)) == ["Tame table"]


@given(st.lists(st.text("abc ", min_size=1, max_size=8), max_size=8), st.text("abc", min_size=1, max_size=3))
def test_it_finds_what_looking_through_all_names_finds(names: list[str], begun: str):
    expected = {place for place, name in enumerate(names) if any(word.startswith(begun) for word in tokens(name))}
    places = Names((name, place) for place, name in enumerate(names)).find(Typed.read([begun]))
    assert expected <= set(places) and len(places) == len(set(places))
