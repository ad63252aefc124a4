from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.catalogue.product_rules import LONGEST_TERM, MOST_TERMS, add_to_terms, clean_terms, split_terms
from app.domain.shared.problems import Invalid

LETTERS = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn", "Zl", "Zp"], exclude_characters=",")
)
TERMS = st.lists(LETTERS.filter(lambda text: len(text) <= LONGEST_TERM), max_size=MOST_TERMS)


@given(TERMS)
def test_cleaning_twice_changes_nothing(terms: list[str]) -> None:
    once = clean_terms(terms)
    assert clean_terms(once) == once


@given(TERMS)
def test_no_two_terms_differ_only_in_case_or_spaces_around(terms: list[str]) -> None:
    kept = [term.strip().casefold() for term in clean_terms(terms)]
    assert len(set(kept)) == len(kept)
    assert set(kept) == {term.strip().casefold() for term in terms} - {""}


@given(TERMS)
def test_terms_survive_the_comma_separated_box(terms: list[str]) -> None:
    kept = clean_terms(terms)
    assert clean_terms(split_terms(", ".join(kept))) == kept


def test_the_first_spelling_is_kept() -> None:
    assert clean_terms(["Wellies", "wellies ", "WELLIES", "gumboots"]) == ["Wellies", "gumboots"]


def test_fifty_characters_fit_and_fifty_one_do_not() -> None:
    assert clean_terms(["x" * 50]) == ["x" * 50]
    with pytest.raises(Invalid, match="51 characters"):
        clean_terms(["x" * 51])


def test_a_product_has_at_most_fifty_terms_counted_after_doubles_are_dropped() -> None:
    fifty = [f"term {number}" for number in range(50)]
    assert len(clean_terms([*fifty, "TERM 0"])) == 50
    with pytest.raises(Invalid, match="at most 50"):
        clean_terms([*fifty, "one more"])


def test_every_reason_is_named_with_its_place() -> None:
    with pytest.raises(Invalid) as refused:
        clean_terms(["good", "a,b", "x" * 51, 7, "nul\0", "tea\r\ncup"])
    assert [(problem.code, problem.pointer) for problem in refused.value.problems] == [
        ("comma_in_term", "#/terms/1"),
        ("term_too_long", "#/terms/2"),
        ("invalid_term", "#/terms/3"),
        ("unprintable", "#/terms/4"),
        ("line_break_in_term", "#/terms/5"),
    ]


def test_line_breaks_around_a_term_are_trimmed_like_spaces_and_one_within_is_refused() -> None:
    assert clean_terms(split_terms("tea,\r\ncup\r\n")) == ["tea", "cup"]
    for line_break in ("\n", "\r\n", "\u2028", "\x0b"):
        with pytest.raises(Invalid, match="“tea cup” contains a line break"):
            clean_terms(split_terms(f"tea{line_break}cup"))


def test_adding_a_term_that_exists_is_skipped() -> None:
    assert add_to_terms(["Wellies"], ["wellies", "boots"]) == ["Wellies", "boots"]


def test_adding_past_fifty_is_refused() -> None:
    with pytest.raises(Invalid):
        add_to_terms([str(number) for number in range(50)], ["another"])
