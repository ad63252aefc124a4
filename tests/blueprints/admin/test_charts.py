"""Lines of daily figures."""

from __future__ import annotations

from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from app.blueprints.admin.charts import SPARK_HEIGHT, SPARK_POINTS, SPARK_WIDTH, chart_by_day, line_chart, sparkline
from app.blueprints.admin.search.overview import Bar, chart_of, drift_bars
from app.domain.search.index.reconcile import DriftDay, DriftHistory
from app.domain.search_statistics.counting.aggregation import Sums
from app.domain.search_statistics.measures import Period, measures

DAYS = [date(2026, 11, 18) + timedelta(days=number) for number in range(3)]


def test_the_highest_day_of_both_periods_is_at_the_top_and_none_at_the_foot() -> None:
    drawn = chart_by_day(DAYS, [0, 5, 2], [10, 0, 0], str)
    assert f"{drawn.line} {drawn.so_far}" == "5,96.0 15,50.0 15,50.0 25,77.6"
    assert drawn.before == "5,4.0 15,96.0 25,96.0"
    assert (drawn.highest, drawn.first, drawn.last) == ("5", "18 November", "20 November")


def test_today_is_no_part_of_the_line_of_whole_days_nor_of_the_area_below_it() -> None:
    drawn = chart_by_day(DAYS, [4, 4, 1], None, str)
    assert drawn.line == "5,4.0 15,4.0" and drawn.area == "5,100 5,4.0 15,4.0 15,100"
    assert drawn.so_far == "15,4.0 25,73.0"


def test_what_is_over_is_one_line() -> None:
    drawn = line_chart(["Mon", "Tue"], [4, 1], None, str, "before")
    assert (drawn.line, drawn.so_far) == ("5,4.0 15,73.0", "")


def test_the_first_hour_of_a_day_is_drawn_without_a_line_of_whole_hours() -> None:
    drawn = line_chart(["00:00", "01:00"], [4], None, str, "before", is_so_far=True)
    assert (drawn.line, drawn.area, drawn.so_far) == ("", "", "5,4.0")
    assert [point.name for point in drawn.points] == ["00:00, so far", "01:00"]


def test_each_day_tells_its_figures() -> None:
    points = chart_by_day(DAYS, [0, 5, 2], [10, 0, 0], str).points
    assert points[1].label == "19 November: 5; 3 days before: 0" and (points[1].figure, points[1].before) == ("5", "0")
    assert chart_by_day(DAYS, [0, 5, 2], None, str).points[2].label == "20 November, so far: 2"


def test_days_without_anything_are_a_line_at_the_foot() -> None:
    drawn = chart_by_day(DAYS, [0, 0, 0], [0, 0, 0], str)
    assert drawn.is_empty and drawn.before == "" and drawn.line == "5,96.0 15,96.0"


def test_a_sparkline_is_drawn_from_its_first_day_to_its_last() -> None:
    drawn = [sparkline([2, *[0] * 28, last]) for last in (8, 0)]
    ends = [(one.line.split()[0], one.so_far.split()[-1]) for one in drawn]
    assert ends == [("0.0,17.0", "96.0,2.0"), ("0.0,2.0", "96.0,22.0")]
    assert all(one.line.split()[-1] == one.so_far.split()[0] and len(one.so_far.split()) == 2 for one in drawn)


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
    drawn = sparkline(figures)
    points = [tuple(map(float, point.split(","))) for point in f"{drawn.line} {drawn.so_far.split()[-1]}".split()]
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
        points = [point.split(",") for point in f"{drawn.line} {drawn.so_far.split()[-1]}".split()]
        assert len(points) == len(drawn.points) == days
        assert all(0 < float(y) < 100 for _, y in points)
        assert [float(x) for x, _ in points] == sorted(float(x) for x, _ in points)
