"""What sales, newness and stock are worth."""

from __future__ import annotations

from itertools import product
from math import log1p

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.search.ranking.scoring import (
    LIFTS,
    MOST_LIFT,
    SECONDS_A_DAY,
    lift,
    newness_share,
    sales_share,
    stock_share,
)
from app.domain.search.ranking_settings import RankingSettings, Weight

weights = st.sampled_from(list(Weight))
shares = st.floats(0, 1)


@given(st.tuples(weights, weights, weights), st.tuples(shares, shares, shares))
def test_no_weights_lift_a_product_over_one_that_matches_much_better(
    chosen: tuple[Weight, ...], own: tuple[float, ...]
) -> None:
    total = 1.0
    for weight, share in zip(chosen, own, strict=True):
        total *= lift(weight, share)
    assert 1 <= total <= MOST_LIFT < 2.2


@given(shares)
def test_no_weight_makes_no_difference_and_more_weight_never_less(share: float) -> None:
    lifts = [lift(weight, share) for weight in (Weight.NONE, Weight.LOW, Weight.MEDIUM, Weight.HIGH)]
    assert lifts[0] == 1 and lifts == sorted(lifts)


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(1, 10**6))
def test_more_sales_never_count_less(few: int, many: int, most: int) -> None:
    few, many = sorted((few % (most + 1), many % (most + 1)))
    assert 0 <= sales_share(log1p(few), log1p(most)) <= sales_share(log1p(many), log1p(most)) <= 1


@pytest.mark.parametrize(("days", "share"), [(-3, 1), (0, 1), (60, 0.5), (120, 0.25)])
def test_a_product_is_half_as_new_after_sixty_days(days: int, share: float) -> None:
    assert newness_share((20_000 - days) * SECONDS_A_DAY + 5, 20_000) == pytest.approx(share)


def test_few_left_count_half() -> None:
    assert [stock_share(*left) for left in ((True, False), (True, True), (False, False))] == [1, 0.5, 0]


def test_the_settings_say_themselves_in_words() -> None:
    assert str(RankingSettings.DEFAULT) == "sold-out products as they are; no weights"
    texts = {str(RankingSettings(sales=one, newness=other)) for one, other in product(LIFTS, LIFTS)}
    assert len(texts) == 16 and "sold-out products as they are; sales high, newness low" in texts
