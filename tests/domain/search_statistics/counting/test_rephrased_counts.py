"""Visits that rephrased a search are counted by day, once for each batch, and of nobody."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from sqlalchemy import select

from app.domain.search_statistics.counting import rephrased_counts
from app.domain.search_statistics.counting.events import Event
from app.domain.search_statistics.counting.models import SearchRephrasing
from app.domain.search_statistics.counting.purge import RETENTIONS
from app.domain.search_statistics.counting.rephrasing import Rephrased
from app.domain.search_statistics.counting.spool import EventBatch
from app.domain.shared.clock import Clock
from app.extensions import db
from app.transaction import transaction
from tests.counted_searches import count_batch, visit
from tests.factories import make_site
from tests.fakes.clock import StoppedClock
from tests.purging import purged

pytestmark = pytest.mark.usefixtures("context")


def count(clock: Clock, name: str, *events: Event) -> None:
    with transaction():
        count_batch(clock, EventBatch(name, events))


def rephrased(site_id: int, today: date, least: int = 1) -> list[Rephrased]:
    return rephrased_counts.rephrased(site_id, today, 30, least, most=10)


def test_visits_of_a_period_are_summed_beside_what_was_searched(clock: StoppedClock, site_id: int) -> None:
    today = clock.now().date()
    for days in (0, 0, 3, 29, 30):
        count(clock, f"{days} {clock.now()}", *visit(site_id, clock.now(), days, "cooktop", "hob"))
        clock.move(seconds=1)
    count(clock, "bed", *visit(site_id, clock.now(), 1, "bed", "sofa"))
    searches = 10
    assert rephrased(site_id, today) == [
        Rephrased("cooktop", "hob", visits=4, days=3, followed=4, popularity=4 / searches),
        Rephrased("bed", "sofa", visits=1, days=1, followed=1, popularity=1 / searches),
    ]
    assert [pair.word for pair in rephrased(site_id, today, least=2)] == ["cooktop"]


def test_a_batch_counts_once_and_sites_count_for_themselves(clock: StoppedClock, site_id: int) -> None:
    with transaction():
        other = make_site("other.test").id
    for _ in range(3):
        count(clock, "a", *visit(site_id, clock.now(), 0, "cooktop", "hob"))
    assert [pair.visits for pair in rephrased(site_id, clock.now().date())] == [1]
    assert rephrased(other, clock.now().date()) == []


def test_a_journey_that_is_sent_again_and_again_adds_no_visit(clock: StoppedClock, site_id: int) -> None:
    *searches, clicked, again = visit(site_id, clock.now(), 0, "cooktop", "hob")
    count(clock, "a", *searches, clicked, again)
    for number in range(5):
        count(clock, f"again {number}", clicked, again, again)
    assert [pair.visits for pair in rephrased(site_id, clock.now().date())] == [1]


def test_visits_go_after_ninety_days(clock: StoppedClock, site_id: int) -> None:
    for days in (0, 89, 90):
        count(clock, str(days), *visit(site_id, clock.now(), days, "cooktop", "hob"))
    purged(clock, *RETENTIONS)
    left = db.session.scalars(select(SearchRephrasing.day).order_by(SearchRephrasing.day.desc()))
    assert [clock.now().date() - day for day in left] == [timedelta(0), timedelta(days=89)]


def test_the_table_has_no_place_for_who_or_from_where() -> None:
    columns = {column.name for column in SearchRephrasing.__table__.columns}
    assert columns == {"site_id", "day", "word", "next_word", "visits"}
