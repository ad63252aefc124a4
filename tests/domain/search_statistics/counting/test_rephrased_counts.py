"""Visits that rephrased a search are counted by week, once for each batch, from five on, and of nobody."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from app.domain.search_statistics.counting import weekly_counts
from app.domain.search_statistics.counting.aggregation import Rephrased
from app.domain.search_statistics.counting.events import Event, EventBatch
from app.domain.search_statistics.counting.purge import RETENTIONS
from app.domain.search_statistics.models import SearchRephrasing
from app.domain.shared.clock import Clock
from app.domain.shared.memory import week_of
from app.extensions import db
from app.transaction import transaction
from tests.counted_searches import count_batch, visits
from tests.factories import make_site
from tests.fakes.clock import StoppedClock
from tests.purging import purged

pytestmark = pytest.mark.usefixtures("context")


def count(clock: Clock, name: str, *events: Event) -> None:
    with transaction():
        count_batch(clock, EventBatch(name, events))


def rephrased(site_id: int, today: date, least: int = 1) -> list[Rephrased]:
    return weekly_counts.rephrased(site_id, today, 30, least, most=10)


def test_visits_of_a_period_are_summed_beside_what_was_searched(clock: StoppedClock, site_id: int) -> None:
    now, today = clock.now(), clock.now().date()
    for number, days in enumerate((0, 0, 7, 21, 35)):
        count(clock, f"batch {number}", *visits(site_id, now, days, "cooktop", "hob"))
    count(clock, "bed", *visits(site_id, now, 1, "bed", "sofa", 6))
    searches = 52
    assert rephrased(site_id, today) == [
        Rephrased("cooktop", "hob", visits=20, weeks=3, followed=20, popularity=20 / searches),
        Rephrased("bed", "sofa", visits=6, weeks=1, followed=6, popularity=6 / searches),
    ]
    assert [pair.word for pair in rephrased(site_id, today, least=7)] == ["cooktop"]


def test_a_batch_counts_once_and_sites_count_for_themselves(clock: StoppedClock, site_id: int) -> None:
    with transaction():
        other = make_site("other.test").id
    for _ in range(3):
        count(clock, "a", *visits(site_id, clock.now(), 0, "cooktop", "hob"))
    assert [pair.visits for pair in rephrased(site_id, clock.now().date())] == [5]
    assert rephrased(other, clock.now().date()) == []


def test_a_journey_that_is_sent_again_and_again_adds_no_visit(clock: StoppedClock, site_id: int) -> None:
    *searches, again = visits(site_id, clock.now(), 0, "cooktop", "hob")
    count(clock, "a", *searches, again)
    for number in range(5):
        count(clock, f"again {number}", searches[-1], again, again)
    assert [pair.visits for pair in rephrased(site_id, clock.now().date())] == [5]


def test_what_fewer_than_five_visits_did_is_not_stored_whatever_a_line_says(clock: StoppedClock, site_id: int) -> None:
    count(clock, "a", *visits(site_id, clock.now(), 0, "cooktop", "hob", 4))
    assert db.session.scalars(select(SearchRephrasing)).all() == []
    week = week_of(clock.now().date())
    with pytest.raises(IntegrityError), transaction():
        db.session.add(SearchRephrasing(site_id=site_id, week=week, word="cooktop", next_word="hob", visits=4))


def test_visits_go_after_ninety_days(clock: StoppedClock, site_id: int) -> None:
    monday = week_of(clock.now().date())
    for weeks in (0, 12, 13):
        count(clock, str(weeks), *visits(site_id, clock.now(), 7 * weeks, "cooktop", "hob"))
    purged(clock, *RETENTIONS)
    left = db.session.scalars(select(SearchRephrasing.week).order_by(SearchRephrasing.week.desc()))
    assert [monday - week for week in left] == [timedelta(0), timedelta(weeks=12)]


def test_the_table_has_no_place_for_who_or_from_where_or_a_day() -> None:
    columns = {column.name for column in SearchRephrasing.__table__.columns}
    assert columns == {"site_id", "week", "word", "next_word", "visits"}
