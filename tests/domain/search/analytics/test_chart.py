"""Lines of daily figures."""

from __future__ import annotations

from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from app.domain.search.analytics.chart import SPARK_HEIGHT, SPARK_POINTS, SPARK_WIDTH, chart, sparkline

DAYS = [date(2026, 11, 18) + timedelta(days=number) for number in range(3)]


def test_the_highest_day_of_both_periods_is_at_the_top_and_none_at_the_foot() -> None:
    drawn = chart(DAYS, [0, 5, 2], [10, 0, 0], str)
    assert drawn.line == "5,96.0 15,50.0 25,77.6"
    assert drawn.before == "5,4.0 15,96.0 25,96.0"
    assert (drawn.highest, drawn.first, drawn.last) == ("5", "18 November", "20 November")


def test_each_day_tells_its_figures() -> None:
    assert chart(DAYS, [0, 5, 2], [10, 0, 0], str).days[1].told == "19 November: 5; 3 days before: 0"
    assert chart(DAYS, [0, 5, 2], None, str).days[2].told == "20 November: 2"


def test_days_without_anything_are_a_line_at_the_foot() -> None:
    drawn = chart(DAYS, [0, 0, 0], [0, 0, 0], str)
    assert drawn.is_empty and drawn.before == "" and drawn.line == "5,96.0 15,96.0 25,96.0"


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=120))
def test_a_sparkline_stays_in_its_box_and_has_few_points(figures: list[int]) -> None:
    points = [tuple(map(float, point.split(","))) for point in sparkline(figures).split()]
    assert 1 <= len(points) <= SPARK_POINTS
    assert all(0 <= x <= SPARK_WIDTH and 0 < y < SPARK_HEIGHT for x, y in points)
