"""Whether something helped is told from equal periods, or it is told why it cannot be."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.search.text import SINGULARS, stem
from app.domain.search_statistics.counting.before_after import BeforeAfter, LiveChange, compare
from app.domain.search_statistics.counting.days import Comparable, equal_periods
from app.domain.search_statistics.counting.events import Event, EventBatch, EventKind
from app.domain.search_statistics.counting.gathering import PhraseMatcher
from app.domain.shared.text import fold
from app.transaction import transaction
from tests.counted_searches import count_batch
from tests.fakes.clock import StoppedClock

TODAY = date(2026, 11, 20)
DAY = timedelta(days=1)


def at_noon(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("days_ago", "kept", "counted", "result", "days"),
    [
        (0, 89, 200, Comparable.TOO_EARLY, 0),
        (3, 89, 200, Comparable.TOO_EARLY, 2),
        (4, 89, 200, Comparable.YES, 3),
        (31, 89, 200, Comparable.YES, 30),
        (45, 89, 200, Comparable.YES, 44),
        (60, 89, 200, Comparable.YES, 29),
        (87, 89, 200, Comparable.TOO_OLD, 2),
        (200, 89, 200, Comparable.TOO_OLD, 0),
        (20, 89, 25, Comparable.YES, 5),
        (20, 89, 20, Comparable.NOT_COUNTED, 0),
        (20, 89, None, Comparable.NOT_COUNTED, 0),
    ],
)
def test_periods_are_as_long_as_what_is_known_allows(
    days_ago: int, kept: int, counted: int | None, result: Comparable, days: int
) -> None:
    counted_from = None if counted is None else TODAY - counted * DAY
    found, periods = equal_periods(TODAY - days_ago * DAY, TODAY, TODAY - kept * DAY, counted_from)
    assert (found, periods.days) == (result, days)


@pytest.mark.parametrize(
    ("days_ago", "ended_ago", "result", "days"),
    [
        (-1, None, Comparable.NOT_BEGUN, 0),
        (-1, -30, Comparable.NOT_BEGUN, 0),
        (20, 10, Comparable.YES, 9),
        (20, 17, Comparable.TOO_SHORT, 2),
        (20, 16, Comparable.YES, 3),
        (1, -1, Comparable.TOO_SHORT, 0),
        (2, -10, Comparable.TOO_EARLY, 1),
        (20, -10, Comparable.YES, 19),
    ],
)
def test_what_is_compared_begins_and_ends_with_what_is_asked_about(
    days_ago: int, ended_ago: int | None, result: Comparable, days: int
) -> None:
    until = None if ended_ago is None else TODAY - ended_ago * DAY
    found, periods = equal_periods(TODAY - days_ago * DAY, TODAY, TODAY - 89 * DAY, TODAY - 200 * DAY, until)
    assert (found, periods.days) == (result, days)


@given(st.integers(0, 200), st.integers(0, 89), st.integers(0, 300))
def test_periods_are_equal_whole_and_within_what_is_kept(days_ago: int, kept: int, counted: int) -> None:
    since = TODAY - days_ago * DAY
    found, periods = equal_periods(since, TODAY, TODAY - kept * DAY, TODAY - counted * DAY)
    if found is Comparable.YES:
        (first, end), (begin, last) = periods.before, periods.after
        assert (end - first).days == (last - begin).days == periods.days - 1 >= 2
        assert TODAY - kept * DAY <= first and end < since < begin and last < TODAY


@pytest.mark.parametrize(
    ("word", "is_meant"),
    [
        ("cell phone", True),
        ("red cell phones for kids", True),
        ("cellphone", False),
        ("phone cell", False),
        ("batteries", True),
        ("battery charger", True),
        ("café", True),
        ("excell phone", False),
        ("cafes of paris", True),
    ],
)
def test_searches_are_about_a_phrase_as_search_reads_it(word: str, is_meant: bool) -> None:
    assert PhraseMatcher(["Cell phones", "battery", "Cafe", "…"])(word) is is_meant


def test_no_phrase_is_in_no_search() -> None:
    assert not PhraseMatcher(["", "?!"])("phone")


@pytest.mark.parametrize("plural", [*SINGULARS, "men's", "berries", "boxes", "shoes"])
def test_a_phrase_is_found_in_every_plural_of_its_words(plural: str) -> None:
    assert PhraseMatcher([stem(fold(plural))])(f"red {plural}")
    assert PhraseMatcher([f"{stem(fold(plural))} rack"])(f"{plural} racks")


@pytest.fixture
def counted(clock: StoppedClock, site_id: int) -> int:
    """Forty days of searches: `mobile` finds nothing until the 30th of October, then something, and sells."""
    events = []
    for ago in range(40):
        day = TODAY - ago * DAY
        helped = day > date(2026, 10, 30)
        for word in ("mobile", "Mobile case".lower(), "tent"):
            events.append(Event(EventKind.SEARCHED, site_id, word, day, 4 if helped else 0, True))
            if helped and word == "mobile":
                events += [Event(kind, site_id, word, day) for kind in (EventKind.CLICKED, EventKind.ADDED)]
                events.append(Event(EventKind.ORDERED, site_id, word, day, revenue=500))
    with transaction():
        count_batch(clock, EventBatch("a", tuple(events)))
    return site_id


def test_before_and_after_are_summed_up(clock: StoppedClock, counted: int) -> None:
    (comparison,) = compare(counted, clock, [LiveChange(at_noon(date(2026, 10, 30)), PhraseMatcher(["mobiles"]))])
    assert (comparison.comparable, comparison.periods.days) == (Comparable.YES, 18)
    assert (
        comparison.before.searches,
        comparison.before.found_nothing,
        comparison.before.clicked,
        comparison.before.revenue,
    ) == (36, 36, 0, 0)
    assert (comparison.after.searches, comparison.after.found_nothing, comparison.after.clicked) == (36, 0, 18)
    assert (comparison.after.added_to_basket, comparison.after.ordered, comparison.after.revenue) == (18, 18, 9_000)


def test_several_are_told_at_once_each_by_its_own(clock: StoppedClock, counted: int) -> None:
    since = at_noon(date(2026, 11, 10))
    request = [LiveChange(since, "tent"), LiveChange(at_noon(TODAY), "tent"), LiveChange(since, "yacht")]
    comparison: list[BeforeAfter] = compare(counted, clock, request)
    assert [one.comparable for one in comparison] == [Comparable.YES, Comparable.TOO_EARLY, Comparable.YES]
    assert [one.after.searches for one in comparison] == [9, 0, 0]
    assert compare(counted, clock, []) == []
