"""The figures of the dashboard and what they are compared with."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.dashboard.figures import (
    LENGTHS,
    BoardPeriod,
    Compared,
    Figure,
    FigureKey,
    sales_figures,
    search_figures,
)
from app.domain.orders.sales import Sales
from app.domain.search_statistics.counting.aggregation import Sums

TODAY = date(2026, 11, 20)
YESTERDAY = TODAY - timedelta(days=1)
WEEK = timedelta(days=7)
KEYS = (FigureKey.SEARCHES, FigureKey.NOTHING, FigureKey.CONVERSION)


def revenue(days: int, by_day: dict[date, Sales], before_now: Sales | None = None) -> Figure:
    return sales_figures(BoardPeriod(days, TODAY), by_day, before_now or Sales())[0]


def searched(days: int, by_day: dict[date, Sums], compares: bool = True) -> dict[FigureKey, Figure]:
    figures = search_figures(BoardPeriod(days, TODAY), by_day, KEYS, compares)
    return {figure.key: figure for figure in figures}


@pytest.mark.parametrize(("address", "days"), [("1", 1), ("7", 7), ("90", 90), ("8", 30), ("", 30), ("²", 30)])
def test_the_address_names_one_of_four_periods(address: str, days: int) -> None:
    assert BoardPeriod.read({"days": address}, TODAY).days == days


def test_today_alone_is_drawn_after_the_six_days_before() -> None:
    period = BoardPeriod(1, TODAY)
    assert (period.summed.first, period.drawn.first) == (TODAY, TODAY - timedelta(days=6))


def test_today_is_in_the_sum_of_days_and_not_in_their_comparison() -> None:
    by_day = {TODAY: Sales(1, 500), YESTERDAY: Sales(2, 3_000), YESTERDAY - WEEK: Sales(1, 2_000)}
    figure = revenue(7, by_day | {TODAY - WEEK: Sales(9, 90_000)})
    assert figure.text("gbp") == "£35.00" and figure.compared == Compared(3_000, 2_000)
    assert figure.comparison("gbp") == "50% more than before" and figure.is_better is True
    assert figure.by_day[-2:] == (3_000, 500) and figure.by_day_before is not None
    assert figure.by_day_before[-2:] == (2_000, 90_000)


def test_today_alone_is_compared_with_a_week_ago_up_to_the_same_time() -> None:
    by_day = {TODAY: Sales(1, 500), YESTERDAY: Sales(2, 3_000)}
    figure = revenue(1, by_day, before_now=Sales(2, 1_000))
    assert figure.number == 500 and figure.compared == Compared(500, 1_000)
    assert figure.comparison("gbp") == "50% less than before" and figure.is_better is False


def test_searches_of_today_alone_are_compared_with_nothing_since_they_are_counted_by_day() -> None:
    figure = searched(1, {TODAY: Sums(searches=4), TODAY - WEEK: Sums(searches=9)})[FigureKey.SEARCHES]
    assert (figure.number, figure.compared, figure.comparison("gbp"), figure.is_better) == (4, None, None, None)


def test_days_that_were_not_counted_are_compared_with_nothing() -> None:
    figure = searched(7, {YESTERDAY: Sums(searches=4)}, compares=False)[FigureKey.SEARCHES]
    assert (figure.compared, figure.by_day_before) == (None, None)


def test_the_share_that_led_to_an_order_is_of_searches_made_while_clicks_were_recorded() -> None:
    by_day = {
        YESTERDAY: Sums(searches=100, followed=50, ordered=3),
        YESTERDAY - WEEK: Sums(searches=100, followed=100, ordered=2),
    }
    figure = searched(7, by_day)[FigureKey.CONVERSION]
    assert figure.text("gbp") == "6.0%" and figure.comparison("gbp") == "2.0% before" and figure.is_better is True


def test_without_such_a_search_there_is_no_share() -> None:
    figure = searched(7, {YESTERDAY: Sums(searches=100)})[FigureKey.CONVERSION]
    assert figure.text("gbp") == "–" and figure.comparison("gbp") is None and set(figure.by_day) == {0}


@pytest.mark.parametrize(
    ("key", "now", "before", "is_better"),
    [
        (FigureKey.NOTHING, 20, 10, False),
        (FigureKey.NOTHING, 10, 20, True),
        (FigureKey.SEARCHES, 20, 10, None),
        (FigureKey.REVENUE, 10_050, 10_000, None),
        (FigureKey.CONVERSION, 449, 400, None),
        (FigureKey.CONVERSION, 450, 400, True),
        (FigureKey.ORDERS, 1, 0, True),
        (FigureKey.ORDERS, 0, 0, None),
    ],
)
def test_a_change_is_for_the_better_or_the_worse_or_neither(
    key: FigureKey, now: int, before: int, is_better: bool | None
) -> None:
    assert Figure(key, now, Compared(now, before), (now,), None).is_better is is_better


SALES = st.builds(Sales, st.integers(0, 10**6), st.integers(0, 10**11))


@given(now=SALES, before=SALES, days=st.sampled_from(LENGTHS))
def test_every_figure_has_a_number_for_each_drawn_day_and_a_comparison_in_words(
    now: Sales, before: Sales, days: int
) -> None:
    period = BoardPeriod(days, TODAY)
    for figure in sales_figures(period, {TODAY: now, period.drawn.before.first: before}, before):
        assert len(figure.by_day) == period.drawn.days and figure.text("jpy") and figure.comparison("jpy")
