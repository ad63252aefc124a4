"""Figures of a period, their shares, and how they compare with the period before."""

from __future__ import annotations

from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from app.domain.search_statistics.counting.aggregation import Sums
from app.domain.search_statistics.measures import Measure, Period, measures, percent, share

TODAY = date(2026, 11, 20)
YESTERDAY = TODAY - timedelta(days=1)
WEEK = Period(7, TODAY)


def measured(now: Sums, before: Sums | None = None, clicks: bool = True) -> dict[str, Measure]:
    """Of a week whose searches were all made yesterday, and of one that were made seven days before that."""
    days = {YESTERDAY: now} | ({YESTERDAY - timedelta(days=7): before} if before else {})
    made = measures(days, WEEK, compares=before is not None, clicks=clicks, currency="gbp")
    return {measure.key: measure for measure in made}


def test_a_period_and_the_one_before_touch_and_are_of_one_length() -> None:
    assert (WEEK.first, WEEK.before.today, WEEK.before.first) == (
        date(2026, 11, 14),
        date(2026, 11, 13),
        date(2026, 11, 7),
    )
    assert len(WEEK.dates) == len(WEEK.before.dates) == 7


def test_shares_are_of_the_searches_made_while_clicks_were_recorded() -> None:
    figures = measured(Sums(searches=200, found_nothing=50, followed=100, clicked=25, added_to_basket=10, ordered=5))
    assert [figures[name].share for name in ("found_nothing", "clicked", "added_to_basket", "ordered")] == [
        "25.0%", "25.0%", "10.0%", "5.0%",
    ]  # fmt: skip


def test_without_a_followed_search_there_is_a_dash_and_no_nought() -> None:
    figures = measured(Sums(searches=200))
    assert [figures[name].figure for name in ("clicked", "added_to_basket", "ordered", "revenue")] == ["–"] * 4
    assert (figures["found_nothing"].figure, figures["found_nothing"].share, figures["clicked"].share) == (
        "0",
        "0.0%",
        "–",
    )
    assert percent(share(Sums(), "found_nothing")) == "–"


def test_while_clicks_are_not_recorded_only_searches_are_told() -> None:
    assert list(measured(Sums(searches=1), clicks=False)) == ["searches", "found_nothing"]


def test_a_measure_is_compared_with_the_period_before() -> None:
    before = Sums(searches=100, found_nothing=10, followed=100, clicked=20, revenue=10_000)
    figures = measured(Sums(searches=150, found_nothing=30, followed=150, clicked=45, revenue=7_500), before)
    assert figures["searches"].comparison == "50% more than before" and figures["searches"].is_better is None
    assert figures["found_nothing"].comparison == "10.0% before" and figures["found_nothing"].is_better is False
    assert figures["clicked"].comparison == "20.0% before" and figures["clicked"].is_better is True
    assert figures["revenue"].comparison == "25% less than before" and figures["revenue"].is_better is False
    assert figures["added_to_basket"].is_better is None


def test_today_which_is_not_over_is_in_the_figures_and_in_no_comparison() -> None:
    searches = {YESTERDAY: 100, TODAY: 7, YESTERDAY - timedelta(days=7): 50, TODAY - timedelta(days=7): 80}
    by_day = {day: Sums(searches=number) for day, number in searches.items()}
    measure, *_ = measures(by_day, WEEK, compares=True, clicks=False, currency="gbp")
    assert (measure.figure, measure.comparison) == ("107", "100% more than before")
    assert WEEK.compared == WEEK.dates[:6]


def test_a_change_that_rounds_to_none_shows_the_earlier_amount() -> None:
    figures = measured(Sums(searches=1_001), Sums(searches=1_000))
    assert figures["searches"].comparison == "1,000 before"


def test_a_period_before_that_was_not_counted_whole_is_no_comparison() -> None:
    figures = measured(Sums(searches=150))["searches"]
    assert (figures.comparison, figures.is_better, figures.by_day_before) == (None, None, None)


def test_a_period_before_without_a_search_is_told_as_nought() -> None:
    figures = measured(Sums(searches=5, followed=5), Sums())
    assert figures["searches"].comparison == "0 before"
    assert figures["clicked"].comparison is None


COUNTS = st.integers(0, 10**7)
SUMS = st.builds(Sums, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS, st.integers(0, 10**12))


@given(now=SUMS, before=st.none() | SUMS, days=st.sampled_from([7, 30, 90]))
def test_every_measure_has_a_figure_for_each_day(now: Sums, before: Sums | None, days: int) -> None:
    period = Period(days, TODAY)
    by_day = {TODAY: now} | ({period.before.today: before} if before else {})
    for measure in measures(by_day, period, compares=before is not None, clicks=True, currency="jpy"):
        assert len(measure.by_day) == len(period.dates) == days
