"""Events become daily counts: each once, bounded, and of nobody."""

from __future__ import annotations

import threading
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from flask import Flask
from sqlalchemy import func, select

from app.domain.search_statistics.counting import queries, rolling_sums
from app.domain.search_statistics.counting.aggregation import MOST_WORDS, REST
from app.domain.search_statistics.counting.days import today
from app.domain.search_statistics.counting.events import Event, EventBatch, EventKind
from app.domain.search_statistics.counting.purge import RETENTIONS
from app.domain.search_statistics.models import CountColumns, CountedBatch, SearchDay, SearchWordDay, SearchWordWindow
from app.extensions import Base, db
from app.transaction import transaction
from tests.counted_searches import count_batch
from tests.factories import make_site
from tests.fakes.clock import StoppedClock
from tests.purging import purged

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
TODAY = NOW.date()
pytestmark = pytest.mark.usefixtures("context")


def event(site_id: int, word: str, kind: EventKind = EventKind.SEARCHED, **more: object) -> Event:
    fields = {"day": TODAY, "found": 3 if kind is EventKind.SEARCHED else None, "followed": True} | more
    return Event(kind, site_id, word, **fields)


def count(clock: StoppedClock, name: str, *events: Event) -> bool:
    with transaction():
        return count_batch(clock, EventBatch(name, events))


def day_of(site_id: int, day: date = TODAY) -> SearchDay:
    db.session.rollback()
    return db.session.get_one(SearchDay, (site_id, day))


def word_of(site_id: int, word: str, day: date = TODAY) -> SearchWordDay:
    db.session.rollback()
    return db.session.get_one(SearchWordDay, (site_id, day, word))


def test_everything_is_added_up(clock: StoppedClock, site_id: int) -> None:
    count(
        clock,
        "a",
        event(site_id, "tent"),
        event(site_id, "tent", found=0),
        event(site_id, "tent", EventKind.CLICKED),
        event(site_id, "stove", followed=False, ruled=True, found=None),
    )
    count(clock, "b", event(site_id, "tent", EventKind.ADDED), event(site_id, "tent", EventKind.ORDERED, revenue=9900))
    tent = word_of(site_id, "tent")
    assert (tent.searches, tent.found_nothing, tent.followed, tent.clicked) == (2, 1, 2, 1)
    assert (tent.added_to_basket, tent.ordered, tent.revenue, tent.ruled) == (1, 1, 9900, 0)
    assert tent.last_result_count == 0
    stove = word_of(site_id, "stove")
    assert (stove.searches, stove.followed, stove.ruled, stove.last_result_count) == (1, 0, 1, None)
    day = day_of(site_id)
    assert (day.searches, day.found_nothing, day.clicked, day.revenue, day.words) == (3, 1, 1, 9900, 2)


def test_a_batch_that_comes_twice_counts_once(clock: StoppedClock, site_id: int) -> None:
    assert count(clock, "a", event(site_id, "tent"))
    assert not count(clock, "a", event(site_id, "tent"))
    assert day_of(site_id).searches == 1


def test_a_batch_counts_wholly_or_not_at_all(clock: StoppedClock, site_id: int) -> None:
    with pytest.raises(ZeroDivisionError), transaction():
        count_batch(clock, EventBatch("a", (event(site_id, "tent"),)))
        raise ZeroDivisionError
    assert count(clock, "a", event(site_id, "tent"))
    assert day_of(site_id).searches == 1


def test_what_was_found_last_stays_when_only_clicks_follow_or_older_days(clock: StoppedClock, site_id: int) -> None:
    count(clock, "a", event(site_id, "tent", found=9), event(site_id, "tent", found=5))
    count(clock, "b", event(site_id, "tent", EventKind.CLICKED))
    count(clock, "c", event(site_id, "tent", found=2, day=TODAY - timedelta(days=1)))
    assert word_of(site_id, "tent").last_result_count == 5
    latest = select(SearchWordWindow.last_result_count, SearchWordWindow.last_day).distinct()
    assert [tuple(row) for row in db.session.execute(latest)] == [(5, TODAY)]


def test_of_a_batch_neither_its_name_nor_the_time_of_day_is_kept(clock: StoppedClock, site_id: int) -> None:
    count(clock, "00001763640000000000000-batch", event(site_id, "tent"))
    batch = db.session.scalars(select(CountedBatch)).one()
    assert "1763640000" not in batch.id and batch.at.time() == time()


def test_each_site_and_day_has_its_own_counts_and_a_site_that_is_gone_has_none(
    clock: StoppedClock, site_id: int
) -> None:
    with transaction():
        other = make_site("other.test").id
    yesterday = TODAY - timedelta(days=1)
    mine = (event(site_id, "tent"), event(site_id, "tent", day=yesterday))
    count(clock, "a", *mine, event(other, "tent"), event(999_999, "tent"))
    assert [day_of(*key).searches for key in ((site_id, TODAY), (site_id, yesterday), (other, TODAY))] == [1, 1, 1]
    assert db.session.scalar(select(func.count()).select_from(SearchDay)) == 3


def test_a_day_keeps_so_many_words_and_counts_the_others_together(clock: StoppedClock, site_id: int) -> None:
    """A bot with words without end: rows stay bounded, sums stay right (threat T36)."""
    for part in range(2):
        words = (f"word {part * 10_000 + number}" for number in range(10_000))
        count(clock, f"part {part}", *(event(site_id, word) for word in words))
    count(clock, "more", event(site_id, "word 1"), event(site_id, "word 19999", EventKind.CLICKED))
    assert db.session.scalar(select(func.count()).select_from(SearchWordDay)) == MOST_WORDS + 1
    rest, day = word_of(site_id, REST), day_of(site_id)
    assert (rest.searches, rest.clicked) == (20_000 - MOST_WORDS, 1)
    assert (day.words, day.searches, day.clicked) == (MOST_WORDS, 20_001, 1)
    assert word_of(site_id, "word 1").searches == 2
    assert queries.top_words(site_id, TODAY, 7, 2) == [("word 1", 2), ("word 0", 1)]


@pytest.mark.concurrent
def test_machines_that_count_at_the_same_time_count_a_new_word_once(
    app: Flask, clock: StoppedClock, site_id: int
) -> None:
    def other_machine() -> None:
        with app.app_context():
            count(clock, "b", event(site_id, "tent"), event(site_id, "stove"))

    thread = threading.Thread(target=other_machine)
    with transaction():
        count_batch(clock, EventBatch("a", (event(site_id, "tent"),)))
        thread.start()
        thread.join(0.5)
    thread.join()
    day = day_of(site_id)
    assert (day.searches, day.words) == (3, 2)


def test_windows_are_right_after_each_batch(clock: StoppedClock, site_id: int) -> None:
    old = TODAY - timedelta(days=20)
    count(clock, "a", event(site_id, "tent"), event(site_id, "tent", day=old))
    count(clock, "b", event(site_id, "tent"), event(site_id, "tent", day=old, kind=EventKind.CLICKED))
    sums = select(SearchWordWindow.days, SearchWordWindow.searches, SearchWordWindow.clicked)
    assert sorted(tuple(row) for row in db.session.execute(sums)) == [(7, 2, 0), (30, 3, 1), (90, 3, 1)]


@pytest.mark.parametrize(
    ("first", "halves"),
    [(date(2026, 3, 28), [48, 46, 48]), (date(2026, 10, 24), [48, 50, 48])],
    ids=["an hour is left out", "an hour comes twice"],
)
def test_days_keep_their_sum_when_clocks_are_turned(
    clock: StoppedClock, site_id: int, first: date, halves: list[int]
) -> None:
    """F35: a search every half hour, by the clocks of London."""
    start = datetime.combine(first, time(), ZoneInfo("Europe/London")).astimezone(UTC)
    moments = [start + number * timedelta(minutes=30) for number in range(sum(halves))]
    for number, moment in enumerate(moments):
        clock.jump(seconds=(moment - clock.now()).total_seconds())
        count(clock, str(number), event(site_id, "tent", day=today(clock, "Europe/London")))
    days = [first + timedelta(days=number) for number in range(3)]
    assert [day_of(site_id, day).searches for day in days] == halves
    assert [word_of(site_id, "tent", day).searches for day in days] == halves
    window = rolling_sums.select_sums(site_id, days[-1], 7)
    assert db.session.scalar(select(func.sum(window.c.searches))) == sum(halves)


def test_numbers_and_lists_that_others_ask_for(clock: StoppedClock, site_id: int) -> None:
    events = [event(site_id, "tent"), event(site_id, "tent", ruled=True), event(site_id, "stove", ruled=True)]
    count(clock, "a", *events, event(site_id, "tent", day=TODAY - timedelta(days=30), ruled=True))
    assert queries.searches_today(site_id, clock) == 3
    assert queries.top_words(site_id, TODAY, 30, 5) == [("tent", 2), ("stove", 1)]
    assert queries.applied_counts(site_id, TODAY, 30) == {"tent": 1, "stove": 1}


def test_words_go_after_ninety_days_and_sums_after_two_years(clock: StoppedClock, site_id: int) -> None:
    ages = (0, 89, 90, 729, 730)
    count(clock, "a", *(event(site_id, "tent", day=TODAY - timedelta(days=age)) for age in ages))
    assert purged(clock, *RETENTIONS) == 4
    left = select(SearchWordDay.day).order_by(SearchWordDay.day.desc())
    assert [(TODAY - day).days for day in db.session.scalars(left)] == [0, 89]
    left = select(SearchDay.day).order_by(SearchDay.day.desc())
    assert [(TODAY - day).days for day in db.session.scalars(left)] == [0, 89, 90, 729]


def test_no_table_of_counts_has_a_place_for_who_or_from_where() -> None:
    kept = {"site_id", "day", "days", "word", "words", "last_result_count", "last_day", "networks"}
    for table in (SearchWordDay, SearchDay, SearchWordWindow):
        names = {column.name for column in table.__table__.columns}
        assert names <= kept | {name for name in CountColumns.__annotations__}, table
    others = {"search_windows": {"site_id", "until"}, "counted_batches": {"id", "at"}}
    for name, columns in others.items():
        assert {column.name for column in Base.metadata.tables[name].columns} == columns


def test_a_trail_that_is_sent_again_and_again_makes_no_more_clicks_than_searches(
    clock: StoppedClock, site_id: int
) -> None:
    following = (EventKind.CLICKED, EventKind.ADDED, EventKind.ORDERED)
    count(clock, "a", event(site_id, "tent"), *(event(site_id, "tent", kind) for kind in following))
    for number in range(3):
        count(clock, f"b{number}", *(event(site_id, "tent", kind) for kind in following for _ in range(10)))
    count(clock, "c", event(site_id, "tent"), *(event(site_id, "tent", EventKind.CLICKED) for _ in range(10)))
    for counted in (word_of(site_id, "tent"), day_of(site_id), *db.session.scalars(select(SearchWordWindow))):
        assert (counted.followed, counted.clicked, counted.added_to_basket, counted.ordered) == (2, 2, 1, 1)


def test_clicks_on_another_day_or_of_a_word_that_nobody_searched_count_nothing(
    clock: StoppedClock, site_id: int
) -> None:
    count(clock, "a", event(site_id, "tent"), event(site_id, "tent", followed=False))
    yesterday = TODAY - timedelta(days=1)
    count(
        clock, "b", event(site_id, "tent", EventKind.CLICKED, day=yesterday), event(site_id, "stove", EventKind.CLICKED)
    )
    assert (day_of(site_id).clicked, day_of(site_id, yesterday).clicked) == (0, 0)
