"""Lines of daily figures."""

from __future__ import annotations

from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from app.blueprints.admin.search.overview import (
    SPARK_HEIGHT,
    SPARK_POINTS,
    SPARK_WIDTH,
    Bar,
    chart,
    chart_of,
    drift_bars,
    sparkline,
)
from app.domain.search.index.reconcile import DriftDay, DriftHistory
from app.domain.search_statistics.counting.aggregation import Sums
from app.domain.search_statistics.measures import Period, measures

DAYS = [date(2026, 11, 18) + timedelta(days=number) for number in range(3)]


def test_the_highest_day_of_both_periods_is_at_the_top_and_none_at_the_foot() -> None:
    drawn = chart(DAYS, [0, 5, 2], [10, 0, 0], str)
    assert drawn.line == "5,96.0 15,50.0 25,77.6"
    assert drawn.before == "5,4.0 15,96.0 25,96.0"
    assert (drawn.highest, drawn.first, drawn.last) == ("5", "18 November", "20 November")


def test_each_day_tells_its_figures() -> None:
    assert chart(DAYS, [0, 5, 2], [10, 0, 0], str).points[1].label == "19 November: 5; 3 days before: 0"
    assert chart(DAYS, [0, 5, 2], None, str).points[2].label == "20 November: 2"


def test_days_without_anything_are_a_line_at_the_foot() -> None:
    drawn = chart(DAYS, [0, 0, 0], [0, 0, 0], str)
    assert drawn.is_empty and drawn.before == "" and drawn.line == "5,96.0 15,96.0 25,96.0"


def test_a_sparkline_is_drawn_from_its_first_day_to_its_last() -> None:
    points = [sparkline([2, *[0] * 28, last]).split() for last in (8, 0)]
    assert [(drawn[0], drawn[-1]) for drawn in points] == [("0.0,17.0", "96.0,2.0"), ("0.0,2.0", "96.0,22.0")]


def test_the_days_of_a_comparison_are_columns_and_lines_at_the_foot() -> None:
    days = (DriftDay(DAYS[0]), DriftDay(DAYS[1], compared=True), DriftDay(DAYS[2], missing=3, extra=1, compared=True))
    assert drift_bars(DriftHistory(days, None)) == (
        Bar("unknown", 0, 98, 2),
        Bar("none", 10, 98, 2),
        Bar("missing", 20, 28, 72),
        Bar("extra", 20, 4, 24),
    )


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=120))
def test_a_sparkline_stays_in_its_box_and_has_few_points(figures: list[int]) -> None:
    points = [tuple(map(float, point.split(","))) for point in sparkline(figures).split()]
    assert 1 <= len(points) <= SPARK_POINTS
    assert all(0 <= x <= SPARK_WIDTH and 0 < y < SPARK_HEIGHT for x, y in points)


COUNTS = st.integers(0, 10**7)
SUMS = st.builds(Sums, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS, st.integers(0, 10**12))


@given(now=SUMS, before=st.none() | SUMS, days=st.sampled_from([7, 30, 90]))
def test_every_measure_can_be_drawn(now: Sums, before: Sums | None, days: int) -> None:
    period = Period(days, DAYS[0])
    by_day = {period.today: now} | ({period.before.today: before} if before else {})
    for measure in measures(by_day, period, compares=before is not None, clicks=True, currency="jpy"):
        drawn = chart_of(measure, period, "jpy")
        points = [point.split(",") for point in drawn.line.split()]
        assert len(points) == len(drawn.points) == days
        assert all(0 < float(y) < 100 for _, y in points)
        assert [float(x) for x, _ in points] == sorted(float(x) for x, _ in points)
