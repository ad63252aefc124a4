"""The sums over 7, 30 and 90 days are always those of the daily counts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta

import pytest
from flask import Flask
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, select

from app.domain.search_statistics.counting import rolling_sums
from app.domain.search_statistics.counting.aggregation import SUMMED, WordChange
from app.domain.search_statistics.counting.purge import RETENTIONS
from app.domain.search_statistics.models import SearchWindow, SearchWordDay, SearchWordWindow
from app.extensions import db
from app.transaction import transaction
from tests.examples import examples
from tests.factories import make_site
from tests.fakes.clock import StoppedClock
from tests.purging import purged

pytestmark = pytest.mark.usefixtures("context")
TODAY = date(2026, 11, 20)


@pytest.fixture
def site_id(context: None) -> int:
    with transaction():
        return make_site().id


def change(word: str, days_ago: int = 0, found: int | None = 3, **counts: int) -> WordChange:
    return WordChange(TODAY - timedelta(days=days_ago), word, found, **({"searches": 1} | counts))


def count(site_id: int, today: date, changes: Sequence[WordChange]) -> None:
    """As searches are counted: into the days, then into the windows."""
    with transaction():
        for one in changes:
            row = db.session.get(SearchWordDay, (site_id, one.day, one.word))
            if row is None:
                row = SearchWordDay(site_id=site_id, day=one.day, word=one.word)
                for name in SUMMED:
                    setattr(row, name, 0)
                db.session.add(row)
            for name in SUMMED:
                setattr(row, name, getattr(row, name) + getattr(one, name))
            if one.searches:
                row.last_result_count = one.last_result_count
        db.session.flush()
        rolling_sums.add(site_id, today, changes)


def kept(site_id: int, days: int) -> set[tuple[object, ...]]:
    columns = (SearchWordWindow.word, *(getattr(SearchWordWindow, name) for name in SUMMED))
    more = (SearchWordWindow.last_day, SearchWordWindow.last_result_count)
    of_site = (SearchWordWindow.site_id == site_id) & (SearchWordWindow.days == days)
    return set(map(tuple, db.session.execute(select(*columns, *more).where(of_site))))


def summed(site_id: int, today: date, days: int) -> set[tuple[object, ...]]:
    return set(map(tuple, db.session.execute(rolling_sums.sum_days(site_id, today, days))))


def read(site_id: int, today: date, days: int) -> set[tuple[object, ...]]:
    sums = rolling_sums.select_sums(site_id, today, days)
    return set(map(tuple, db.session.execute(select(sums))))


def test_a_search_counts_in_every_period_that_its_day_belongs_to(site_id: int) -> None:
    count(site_id, TODAY, [change("tent", 0), change("tent", 6), change("tent", 7), change("tent", 29)])
    count(site_id, TODAY, [change("tent", 30), change("tent", 89)])
    found = dict(map(tuple, db.session.execute(select(SearchWordWindow.days, SearchWordWindow.searches))))
    assert found == {7: 2, 30: 4, 90: 6}


def test_when_the_day_is_over_the_oldest_leaves_the_period(site_id: int) -> None:
    count(site_id, TODAY, [change("tent", 6), change("stove", 0)])
    tomorrow = TODAY + timedelta(days=1)
    with transaction():
        rolling_sums.advance(site_id, tomorrow)
    assert rolling_sums.window_end(site_id) == tomorrow and rolling_sums.window_end(site_id) != TODAY
    words = db.session.scalars(select(SearchWordWindow.word).where(SearchWordWindow.days == 7)).all()
    assert words == ["stove"]


def test_the_latest_search_says_how_much_a_word_finds(site_id: int) -> None:
    count(site_id, TODAY, [change("tent", 0, found=0)])
    count(site_id, TODAY, [change("tent", 1, found=7)])
    assert {row[-2:] for row in kept(site_id, 7)} == {(TODAY, 0)}
    count(site_id, TODAY, [change("tent", 0, found=None, searches=0, clicked=1)])
    assert {row[-2:] for row in kept(site_id, 7)} == {(TODAY, 0)}
    count(site_id, TODAY, [change("tent", 0, found=9)])
    assert {row[-2:] for row in kept(site_id, 7)} == {(TODAY, 9)}


def test_windows_of_another_day_are_named_and_read_from_the_days_meanwhile(site_id: int, clock: StoppedClock) -> None:
    count(site_id, TODAY, [change("tent")])
    assert rolling_sums.outdated_windows(clock) == []
    clock.move(hours=13)  # London has no summer time in November.
    tomorrow = TODAY + timedelta(days=1)
    assert rolling_sums.outdated_windows(clock) == [(site_id, tomorrow)]
    sums = rolling_sums.select_sums(site_id, tomorrow, 7)
    assert db.session.execute(select(sums.c.word, sums.c.searches)).all() == [("tent", 1)]


def test_days_that_leave_are_subtracted_and_purged_only_then(site_id: int, clock: StoppedClock) -> None:
    for ago in (0, 1, 6, 29, 88, 89):
        count(site_id, TODAY, [change("tent", ago), change(f"only {ago}", ago)])
    clock.move(days=2)
    later = TODAY + timedelta(days=2)
    result = {days: read(site_id, later, days) for days in rolling_sums.PERIODS}
    purged(clock, *RETENTIONS)
    assert rolling_sums.window_end(site_id) == later
    for days in rolling_sums.PERIODS:
        assert kept(site_id, days) == summed(site_id, later, days) == result[days]


def test_after_a_long_pause_everything_is_summed_up_anew(site_id: int) -> None:
    count(site_id, TODAY, [change("tent", 0), change("stove", 85)])
    later = TODAY + timedelta(days=20)
    assert read(site_id, later, 90) == summed(site_id, later, 90)
    with transaction():
        rolling_sums.advance(site_id, later)
    assert kept(site_id, 90) == summed(site_id, later, 90) == read(site_id, later, 90)


def test_a_clock_that_was_turned_back_makes_nothing_wrong(site_id: int) -> None:
    count(site_id, TODAY, [change("tent", 0), change("stove", 3)])
    before = TODAY - timedelta(days=2)
    count(site_id, before, [change("stove", 3)])
    assert kept(site_id, 7) == summed(site_id, before, 7)


def test_other_sites_keep_their_own(site_id: int) -> None:
    with transaction():
        other = make_site("other.localhost").id
    count(site_id, TODAY, [change("tent")])
    count(other, TODAY, [change("tent", searches=5)])
    with transaction():
        rolling_sums.advance(other, TODAY)
    assert {row[1] for row in kept(site_id, 7)} == {1}
    assert {row[1] for row in kept(other, 7)} == {5}


CHANGES = st.builds(
    change,
    word=st.sampled_from(["tent", "stove", "", "blåbær"]),
    days_ago=st.integers(0, 100),
    found=st.none() | st.integers(0, 9),
    searches=st.integers(1, 5),
    clicked=st.integers(0, 3),
    revenue=st.integers(0, 10**10),
)
STEPS = st.lists(st.tuples(st.integers(0, 2), st.lists(CHANGES, max_size=6)), max_size=6)


@given(steps=STEPS)
@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_counted_on_whatever_day_the_sums_are_those_of_the_days(
    app: Flask, site_id: int, steps: list[tuple[int, list[WordChange]]]
) -> None:
    today = TODAY
    with transaction():
        for table in (SearchWindow, SearchWordWindow, SearchWordDay):
            db.session.execute(delete(table))
    for days_later, changes in steps:
        today += timedelta(days=days_later)
        for days in rolling_sums.PERIODS:
            assert {row[:-2] for row in read(site_id, today, days)} == {
                row[:-2] for row in summed(site_id, today, days)
            }
        count(site_id, today, changes)
    for days in rolling_sums.PERIODS if steps else ():
        assert {row[:-2] for row in kept(site_id, days)} == {row[:-2] for row in summed(site_id, today, days)}
