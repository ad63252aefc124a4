"""Categories are counted by one query. What it leaves out where there are many is counted by workers, one by one, and
is not known to pages."""

from __future__ import annotations

import pytest

from app.domain.merchandising.tree import ShopNode, ShopTree
from app.domain.search.engine import MOST_FACET_VALUES
from app.domain.search.listings.browsing import category_counts
from app.domain.seo.sitemap.entries import ExactCounts, LeftOut, why_category_left_out
from app.domain.seo.sitemap.generator import categories_left_out
from tests.domain.seo.sitemap.counting import Counting


def node(number: int, **more: object) -> ShopNode:
    return ShopNode(number, 1, None, "Tents", "tents", "tents", **more)  # type: ignore[arg-type]


def exact_counts(engine: Counting) -> ExactCounts:
    return ExactCounts.of_site(engine, 1)  # type: ignore[arg-type]


def test_one_query_counts_all() -> None:
    engine = Counting(50)
    counts = exact_counts(engine)
    assert [counts.of(node(number)) for number in (0, 49, 50)] == [9, 9, 0]
    assert engine.requests == 1


def test_those_that_it_does_not_name_are_counted_by_themselves() -> None:
    engine = Counting(MOST_FACET_VALUES + 5)
    counts = exact_counts(engine)
    assert [counts.of(node(number)) for number in (0, MOST_FACET_VALUES, MOST_FACET_VALUES + 5)] == [9, 7, 0]
    assert engine.requests == 3


def test_a_count_that_cannot_be_fetched_is_unknown() -> None:
    engine = Counting(MOST_FACET_VALUES)
    counts = exact_counts(engine)
    engine.is_away = True
    assert counts.of(node(1)) == 9 and counts.of(node(MOST_FACET_VALUES)) is None
    assert not counts.known.is_search_away


def test_while_search_is_away_it_is_asked_once() -> None:
    engine = Counting(5)
    engine.is_away = True
    counts = exact_counts(engine)
    assert [counts.of(node(number)) for number in range(5)] == [None] * 5
    assert counts.known.is_search_away and engine.requests == 1


def test_a_page_asks_once_however_many_categories_there_are() -> None:
    engine = Counting(MOST_FACET_VALUES + 5)
    counts = category_counts(engine, 1)  # type: ignore[arg-type]
    assert [counts.of(number) for number in (0, MOST_FACET_VALUES, MOST_FACET_VALUES + 5)] == [9, None, None]
    assert engine.requests == 1


@pytest.mark.parametrize(
    ("left_out", "is_shown", "reason"),
    [
        (node(1), False, LeftOut.HIDDEN),
        (node(1, exclude_from_sitemap=True), True, LeftOut.EXCLUDED),
        (node(1, canonical_override="/c/camping"), True, LeftOut.OVERRIDE),
    ],
)
def test_what_is_left_out_anyway_is_not_counted(left_out: ShopNode, is_shown: bool, reason: LeftOut) -> None:
    def count(_node: ShopNode) -> int:
        raise AssertionError("It was counted.")

    assert why_category_left_out(left_out, is_shown, count) is reason


def test_a_category_whose_count_is_not_known_is_not_left_out() -> None:
    counts = {1: 0, 2: None, 3: 4}
    tree = ShopTree([node(number) for number in counts], {}, 1)
    assert categories_left_out(tree, lambda of: counts[of.id]) == [(node(1), LeftOut.EMPTY)]
