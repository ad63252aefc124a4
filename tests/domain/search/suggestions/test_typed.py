"""What a shopper has typed so far, and what of a text that is."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.domain.search.suggestions import Typed, pieces
from app.domain.search.text import MAX_CHARACTERS


@pytest.mark.parametrize(
    ("value", "words", "is_typing"),
    [
        ("te", ("te",), True),
        ("Café  ma", ("cafe", "ma"), True),
        ("tent ", ("tent",), False),
        ("tents", ("tents",), False),
        ("%%%", (), False),
        ("", (), False),
    ],
)
def test_the_last_word_goes_on_until_a_space_or_a_plural_ends_it(value: str, words: tuple[str, ...], is_typing: bool):
    typed = Typed.read([value])
    assert (typed.words, typed.is_typing) == (words, is_typing)


def test_the_first_value_that_is_not_blank_counts():
    assert Typed.read(["", "  ", "tent", "mug"]).words == ("tent",)


@pytest.mark.parametrize(
    ("value", "is_enough"), [("t", False), ("-t-", False), ("t e", True), ("te", True), ("帳篷", True)]
)
def test_two_letters_or_digits_are_enough(value: str, is_enough: bool):
    assert Typed.read([value]).is_enough is is_enough


def test_a_long_text_is_cut():
    assert len(Typed.read(["ab " * 500]).text) <= MAX_CHARACTERS


@pytest.mark.parametrize(
    ("text", "value", "typed"),
    [
        ("Fell tent", "te", ["te"]),
        ("Tent of a Tentmaker", "tent", ["Tent", "Tent"]),
        ("Crème brûlée", "cre bru", ["Crè", "brû"]),
        ("Waterproof coat", "proof", []),
        ("<b>Tent</b>", "tent", ["Tent"]),
        ("ß tent", "ss", ["ß"]),
    ],
)
def test_what_was_typed_stands_out_where_words_begin_with_it(text: str, value: str, typed: list[str]):
    assert [piece.text for piece in pieces(text, Typed.read([value])) if piece.is_typed] == typed


@example("ß tent", "ss")
@given(st.text(max_size=60), st.text(max_size=10))
def test_the_pieces_of_a_text_are_the_text(text: str, value: str):
    assert "".join(piece.text for piece in pieces(text, Typed.read([value]))) == text
