"""NDCG, intervals and agreement."""

from __future__ import annotations

from math import log2

import pytest

from app.domain.relevance.judgements.measures import (
    RESAMPLES,
    ChangeOfNdcg,
    Combination,
    Interval,
    agreement,
    compare_ndcgs,
    mean_with_interval,
    ndcg,
)


def test_the_ideal_order_has_an_ndcg_of_one() -> None:
    assert ndcg(["a", "b", "c"], {"a": 3, "b": 2, "c": 0}) == 1


def test_a_better_product_further_down_costs_what_its_gain_loses_by_the_place() -> None:
    best = 7 + 3 / log2(3)
    assert ndcg(["b", "a"], {"a": 3, "b": 2}) == pytest.approx((3 + 7 / log2(3)) / best)


def test_what_nobody_rated_gains_nothing_and_takes_a_place() -> None:
    assert ndcg(["new", "a"], {"a": 1}) == pytest.approx(1 / log2(3))


def test_only_the_first_ten_count() -> None:
    others = [f"o{number}" for number in range(10)]
    assert ndcg([*others, "a"], {"a": 3}) == 0
    assert ndcg([*others[:9], "a"], {"a": 3}) == pytest.approx(1 / log2(11))


def test_the_ideal_is_of_the_ten_best_products() -> None:
    twelve = {f"p{number}": 3 for number in range(12)}
    assert ndcg([f"p{number}" for number in range(10)], twelve) == 1


def test_nothing_that_answers_is_no_division_by_zero() -> None:
    assert ndcg(["a"], {"a": 0}) == 0


def test_several_raters_come_to_a_mean_or_a_median() -> None:
    assert Combination.MEAN.of([0, 0, 3]) == 1
    assert Combination.MEDIAN.of([0, 0, 3]) == 0


def test_the_interval_is_the_same_each_time_and_holds_the_mean() -> None:
    values = [place / 50 for place in range(50)]
    found = mean_with_interval(values)
    assert found == mean_with_interval(values)
    assert found.low < found.mean < found.high
    assert found.mean == pytest.approx(0.49)
    half_width = 1.96 * 0.2886 / 50**0.5
    assert found.high - found.mean == pytest.approx(half_width, rel=0.1)


def test_values_that_are_all_alike_have_no_width() -> None:
    assert mean_with_interval([0.5] * 3) == Interval(0.5, 0.5, 0.5)


def test_a_comparison_counts_the_searches_and_says_what_is_chance() -> None:
    before = dict.fromkeys(range(40), 0.5)
    found = compare_ndcgs(before, {key: 0.6 for key in range(12)} | {key: 0.4 for key in range(12, 15)})
    assert (found.better, found.worse, found.same) == (12, 3, 25)
    assert found.after == pytest.approx(0.5 + 0.9 / 40)
    assert found.is_significant
    assert found.sentence == "0.500 to 0.522, 12 better, 3 worse, 25 unchanged, significant"


def test_one_search_of_forty_is_chance() -> None:
    found = compare_ndcgs(dict.fromkeys(range(40), 0.5), {1: 0.9})
    assert not found.is_significant and found.sentence.endswith("not significant")


def test_a_few_searches_prove_nothing_though_all_become_better() -> None:
    assert not compare_ndcgs(dict.fromkeys(range(5), 0.5), dict.fromkeys(range(5), 0.9)).is_significant
    assert compare_ndcgs(dict.fromkeys(range(6), 0.5), dict.fromkeys(range(6), 0.9)).is_significant


def test_where_nothing_changes_there_is_no_verdict() -> None:
    found = compare_ndcgs({1: 0.5, 2: 0.7}, {1: 0.5})
    assert found == ChangeOfNdcg(0.6, 0.6, Interval(0, 0, 0), 0, 0, 2)
    assert found.sentence == "0.600 before and after, 0 better, 0 worse, 2 unchanged"


def test_very_many_values_are_drawn_less_often() -> None:
    assert RESAMPLES * 200 == 1_000_000
    assert mean_with_interval([0.0, 1.0] * 1_000).high == pytest.approx(0.52, abs=0.006)


def test_raters_who_always_agree() -> None:
    found = agreement([[3, 3], [0, 0, 0], [1]])
    assert (found.products, found.equal, found.alpha) == (2, 1, 1)


def test_raters_who_differ_now_and_then() -> None:
    """By hand: the observed disagreement of pairs within products beside that of all pairs."""
    found = agreement([[3, 3], [0, 1], [2, 2], [1, 0]])
    assert found.equal == 0.5
    observed, expected = 4 / 8, 2 * (4 * 1 + 4 * 4 + 4 * 9 + 4 * 1 + 4 * 4 + 4 * 1) / (8 * 7)
    assert found.alpha == pytest.approx(1 - observed / expected)


def test_without_a_product_that_two_rated_there_is_nothing_to_agree_on() -> None:
    assert agreement([[1], [2]]).equal is None
    assert agreement([[1, 1], [1, 1]]).alpha is None
