from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from app.domain.search.text import (
    MAX_CHARACTERS,
    MAX_WORD_LENGTH,
    MAX_WORDS,
    SINGULARS,
    code,
    neighbours,
    parts,
    query_words,
    quoted_words,
    stem,
    tokens,
    words,
)
from app.domain.shared.text import fold


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("Café CRÈME", ["cafe", "creme"]),
        ("Intel® Core™2 Duo", ["intel", "core2", "duo"]),
        ("Straße", ["strasse"]),
        ("ﬁne", ["fine"]),
        ("２１ ｃｍ", ["21", "cm"]),
        ("men's shirt", ["mens", "shirt"]),
        ('17" 3.5mm a b_c', ["17", "3", "5mm", "a", "b", "c"]),
        ("наушники", ["наушники"]),
        ("  - / \t\n", []),
        ("", []),
    ],
)
def test_text_is_cut_into_folded_words(typed: str, read: list[str]) -> None:
    assert tokens(typed) == read


@pytest.mark.parametrize(
    ("plural", "singular"),
    [
        ("headphones", "headphone"),
        ("batteries", "battery"),
        ("watches", "watch"),
        ("boxes", "box"),
        ("dresses", "dress"),
        ("cases", "case"),
        ("ties", "tie"),
        ("knives", "knife"),
        ("shelves", "shelf"),
        ("sleeves", "sleeve"),
        ("lenses", "lens"),
        ("lens", "lens"),
        ("buses", "bus"),
        ("gases", "gas"),
        ("canvas", "canvas"),
        ("canvases", "canvas"),
        ("scarves", "scarf"),
        ("mice", "mouse"),
        ("women", "woman"),
        ("womens", "woman"),
        ("mens", "man"),
        ("childrens", "child"),
        ("sizes", "size"),
        ("waltzes", "waltz"),
        ("quizzes", "quiz"),
        ("cookies", "cookie"),
        ("potatoes", "potato"),
        ("headaches", "headache"),
        ("menus", "menu"),
        ("taxis", "taxi"),
        ("series", "series"),
        ("news", "news"),
        ("glass", "glass"),
        ("bus", "bus"),
        ("tennis", "tennis"),
        ("plus", "plus"),
        ("gps", "gps"),
        ("x570s", "x570s"),
        ("s", "s"),
    ],
)
def test_plurals_become_singular_and_nothing_else_changes(plural: str, singular: str) -> None:
    assert stem(plural) == singular


@pytest.mark.parametrize(
    ("written", "read"), [("RJ-45", "rj45"), ("rj 45", "rj45"), ("DV7-1211ea", "dv71211ea"), ("--", "")]
)
def test_a_code_is_one_word_however_it_is_written(written: str, read: str) -> None:
    assert code(written) == read


def test_a_word_of_letters_and_digits_has_parts() -> None:
    assert parts("rj45") == ("rj", "45")
    assert parts("1211ea") == ("1211", "ea")
    assert parts("laptop") == parts("45") == ()


def test_neighbours_are_written_as_one() -> None:
    assert neighbours(["smart", "watch", "strap"]) == ["smartwatch", "watchstrap"]
    assert neighbours(["smart"]) == []


def test_what_is_typed_is_cut_to_size_and_each_word_counts_once() -> None:
    assert query_words("red shoes RED shoe") == ("red", "shoe")
    assert len(query_words(" ".join(f"w{n}" for n in range(100)))) == MAX_WORDS
    assert query_words("x" * 10_000) == ("x" * MAX_WORD_LENGTH,)
    assert query_words(" " * MAX_CHARACTERS + "late") == ()


@pytest.mark.parametrize(
    ("typed", "quoted"),
    [
        ('"red shoes" cheap', {"red", "shoe"}),
        ("“red shoes” cheap", {"red", "shoe"}),
        ('red "shoes', set()),
        ('27" couch 24"', set()),
        ('"couch 24" wide', {"couch", "24"}),
        ('27" "leather couch"', {"leather", "couch"}),
    ],
)
def test_words_stand_in_quotes_that_are_opened_and_closed(typed: str, quoted: set[str]) -> None:
    assert quoted_words(typed) == quoted


@given(st.lists(st.tuples(st.integers(0, 99), st.sampled_from(("couch", "screen", "x", "wide frame"))), max_size=6))
def test_marks_of_inches_quote_nothing_and_leave_quotes_what_they_are(sizes: list[tuple[int, str]]) -> None:
    measured = " ".join(f'{inches}" {thing}' for inches, thing in sizes)
    assert quoted_words(measured) == frozenset()
    assert quoted_words(f'{measured} "leather sofa"') == {"leather", "sofa"}


@given(st.text())
def test_folding_twice_changes_nothing_more(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text())
def test_the_indexed_words_of_a_text_are_the_words_that_find_it(text: str) -> None:
    assert set(query_words(text)) <= set(words(text[:MAX_CHARACTERS]))


@given(st.text())
def test_words_are_never_empty_nor_hold_what_divides_words(text: str) -> None:
    for word in words(text):
        assert word
        assert tokens(word) == [word]


@given(st.text(alphabet="abcdefgh ies"))
def test_a_stemmed_word_begins_like_the_word(text: str) -> None:
    for token in tokens(text):
        assert token in SINGULARS or token.startswith(stem(token)[:-1])


@given(st.one_of(st.text(alphabet="abcdefghiklmnoprstuvwxz", max_size=9), st.sampled_from(sorted(SINGULARS))))
def test_stemming_twice_changes_nothing_more(word: str) -> None:
    for form in (word, f"{word}s", f"{word}es"):
        assert stem(stem(form)) == stem(form)


@pytest.mark.parametrize("plural", sorted(SINGULARS))
def test_an_irregular_plural_meets_its_singular(plural: str) -> None:
    assert stem(plural) == stem(SINGULARS[plural]) == SINGULARS[plural]


@given(st.text(alphabet="abcdefghiklmnoprtuvwxz", min_size=3, max_size=12))
def test_a_regular_plural_meets_its_singular(word: str) -> None:
    """Of words that take the plain -s: no letter before it makes the ending another one."""
    assume(not word.endswith(("i", "u", "e", "x", "z", "ch", "sh", "y", "o")) and word not in SINGULARS)
    assume(f"{word}s" not in SINGULARS)
    assert stem(f"{word}s") == stem(word)


@pytest.mark.parametrize(
    ("typed", "indexed"),
    [
        ("012345678905", "12345678905"),
        ("00012345678905", "12345678905"),
        ("12345678905", "12345678905"),
        ("00000001234565", "01234565"),
        ("01234565", "01234565"),
        ("0012345", "0012345"),
        ("0a2345678905", "0a2345678905"),
    ],
)
def test_a_bar_code_is_one_word_with_and_without_leading_zeros(typed: str, indexed: str) -> None:
    assert (words(typed), code(typed)) == ([indexed], indexed)
