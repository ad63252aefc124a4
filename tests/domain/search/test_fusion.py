"""The rule by which the order by words and the order by meaning become one."""

from __future__ import annotations

import pytest

from app.domain.search.engine import IndexDocument
from app.domain.search.ranking.scoring import (
    BEST_BY_MEANING,
    BEST_BY_WORDS,
    LONGEST_TEXT,
    NEAREST,
    meaning_text,
    points_by_meaning,
    points_by_words,
    rank_by_meaning,
    reads_as_code,
)


def test_the_best_have_the_most_points():
    assert (points_by_words(0), points_by_meaning(0)) == (BEST_BY_WORDS, BEST_BY_MEANING)
    assert points_by_words(9) < points_by_words(8) < BEST_BY_WORDS


def test_points_are_reciprocal_ranks_in_which_meaning_weighs_three_tenths():
    first, twelfth = points_by_words(0) + points_by_meaning(9), points_by_words(11)
    assert first / twelfth == pytest.approx((1 / 61 + 0.3 / 70) / (1 / 72))


def test_the_nearest_of_all_passes_some_products_and_not_many():
    assert points_by_words(18) + points_by_meaning(0) > points_by_words(0)
    assert points_by_words(27) + points_by_meaning(0) < points_by_words(0)


@pytest.mark.parametrize("rank", range(0, NEAREST, 13))
def test_the_rank_by_meaning_can_be_told_from_its_points(rank: int):
    assert rank_by_meaning(points_by_meaning(rank)) == rank


def test_the_text_of_a_product_is_its_name_manufacturer_and_level():
    sofa = IndexDocument(id="p1", name="Oslo 3-seater", manufacturer="Bolt", kind="Sofas", description="Grey.")
    assert meaning_text(sofa) == "Oslo 3-seater Bolt Sofas"
    assert meaning_text(IndexDocument(id="p1", name="Oslo")) == "Oslo"
    assert len(meaning_text(IndexDocument(id="p1", name="sofa " * 100))) == LONGEST_TEXT


@pytest.mark.parametrize(
    ("words", "is_code"),
    [(["rx45"], True), (["ab", "12"], False), (["17ab", "4"], True), (["iphone", "6"], False), (["sofa"], False)],
)
def test_words_that_all_have_digits_read_as_a_code(words: list[str], is_code: bool):
    assert reads_as_code(words) is is_code
