"""How often products were opened and bought from a search: by week, where five visits share it, bounded, of nobody."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from app.domain.search.settings import LEARNING
from app.domain.search_statistics.counting.attribution import weight_at
from app.domain.search_statistics.counting.events import Event, EventBatch, EventKind, as_json, from_json
from app.domain.search_statistics.counting.purge import RETENTIONS
from app.domain.search_statistics.counting.weekly_counts import MOST_PRODUCTS
from app.domain.search_statistics.models import SearchProductWeek
from app.domain.shared.memory import week_of
from app.domain.sites.models import Site
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.transaction import transaction
from tests.counted_searches import count_batch
from tests.factories import make_order, make_product
from tests.fakes.clock import StoppedClock
from tests.purging import purged

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
TODAY = NOW.date()
WEEK = week_of(TODAY)
pytestmark = pytest.mark.usefixtures("context", "learning")


@pytest.fixture
def learning(site_id: int) -> None:
    switch_learning(site_id, "shadow")


def switch_learning(site_id: int, mode: str) -> None:
    with transaction():
        change_settings(site_id, {LEARNING: mode})


def searched(site_id: int, word: str = "tent", times: int = 1, followed: bool = True) -> list[Event]:
    return [Event(EventKind.SEARCHED, site_id, word, TODAY, 3, followed)] * times


def opened(site_id: int, product_id: int, place: int | None = 1, word: str = "tent", visits: int = 1) -> Event:
    weight = visits * weight_at(place)
    return Event(EventKind.OPENED, site_id, word, WEEK, product_id=product_id, weight=weight, visits=visits)


def bought(site_id: int, product_id: int, visits: int = 1) -> Event:
    return Event(EventKind.BOUGHT, site_id, "tent", WEEK, product_id=product_id, visits=visits)


def sell(site_id: int, product_id: int, customers: int, times: int = 1) -> None:
    """Orders of the product in the week, so many of each customer."""
    with transaction():
        site = db.session.get_one(Site, site_id)
        tent = make_product(site, "T-7", id=product_id)
        for number in range(customers * times):
            email = f"customer-{number % customers}@home.test"
            make_order(site, tent, submitted_at=NOW, contact_email=email)


def count(clock: StoppedClock, name: str, *events: Event) -> None:
    with transaction():
        count_batch(clock, EventBatch(name, events))


def counts() -> dict[tuple[str, int], tuple[int, int, int]]:
    """By search and product: opens, their weight in hundredths, purchases."""
    rows = db.session.scalars(select(SearchProductWeek))
    return {(row.word, row.product_id): (row.opens, row.weight, row.bought) for row in rows}


def test_opens_count_by_the_place_at_which_the_product_stood(clock: StoppedClock, site_id: int) -> None:
    count(clock, "a", *searched(site_id, times=12), opened(site_id, 7, 1, visits=5), opened(site_id, 8, 24, visits=5))
    sell(site_id, 7, customers=10)
    count(clock, "b", opened(site_id, 7, 3), opened(site_id, 7, None), bought(site_id, 7, visits=5))
    assert counts() == {("tent", 7): (7, 800, 5), ("tent", 8): (5, 2320, 0)}
    assert set(db.session.scalars(select(SearchProductWeek.week))) == {WEEK}


def test_a_journey_that_is_sent_again_and_again_adds_no_more_than_its_searches(
    clock: StoppedClock, site_id: int
) -> None:
    sell(site_id, 7, customers=30)
    count(clock, "a", *searched(site_id, times=6), *[opened(site_id, 7, 3)] * 10, *[bought(site_id, 7)] * 10)
    count(clock, "b", *[opened(site_id, 7, 3)] * 10, *[bought(site_id, 7)] * 10)
    assert counts() == {("tent", 7): (6, 1200, 5)}


def test_the_searches_of_all_days_of_a_week_are_what_led_to_its_opens(clock: StoppedClock, site_id: int) -> None:
    days = (WEEK, WEEK + timedelta(days=6), WEEK - timedelta(days=1))
    searches = [Event(EventKind.SEARCHED, site_id, "tent", day, 3, True) for day in days for _ in range(3)]
    count(clock, "a", *searches, opened(site_id, 7, visits=20))
    assert counts()["tent", 7][0] == 6


def test_what_fewer_than_five_share_is_not_stored_whatever_a_line_says(clock: StoppedClock, site_id: int) -> None:
    count(clock, "a", *searched(site_id, times=9), opened(site_id, 7, visits=4))
    assert counts() == {}
    count(clock, "b", opened(site_id, 7, visits=9), bought(site_id, 7, visits=4))
    assert counts() == {("tent", 7): (9, 900, 0)}


def test_purchases_are_stored_in_steps_of_five(clock: StoppedClock, site_id: int) -> None:
    sell(site_id, 7, customers=40)
    count(clock, "a", *searched(site_id, times=20), opened(site_id, 7, visits=20))
    stored = []
    for number in range(4, 12):
        count(clock, f"b{number}", replace(bought(site_id, 7), visits=1, all_visits=number))
        stored.append(counts()["tent", 7][2])
    assert stored == [0, 5, 5, 5, 5, 5, 10, 10], "no single order shows between two looks"


@pytest.mark.parametrize(("customers", "times", "stored"), [(9, 1, 0), (5, 4, 0), (10, 1, 5)])
def test_purchases_are_stored_where_as_many_others_bought_the_product_too(
    clock: StoppedClock, site_id: int, customers: int, times: int, stored: int
) -> None:
    """Else all who ordered it would be known to have searched for it; one who orders five times is one."""
    sell(site_id, 7, customers, times)
    count(clock, "a", *searched(site_id, times=9), opened(site_id, 7, visits=9), bought(site_id, 7, visits=5))
    assert counts()["tent", 7][2] == stored


def test_what_a_replayed_cookie_or_a_lost_batch_kept_from_being_stored_is_added_with_the_next_visit(
    clock: StoppedClock, site_id: int
) -> None:
    fifth = replace(opened(site_id, 7, visits=5), all_visits=5, all_weight=500)
    count(clock, "a", *searched(site_id), fifth)
    assert counts() == {}, "one search leads to one open"
    sixth = replace(opened(site_id, 7), all_visits=6, all_weight=600)
    count(clock, "b", *searched(site_id, times=20), sixth)
    assert counts() == {("tent", 7): (6, 600, 0)}
    count(clock, "c", replace(opened(site_id, 7), all_visits=1, all_weight=100))
    assert counts() == {("tent", 7): (7, 700, 0)}, "a restart that forgot the week takes nothing back"


def test_where_too_few_searches_lead_to_it_nothing_is_stored(clock: StoppedClock, site_id: int) -> None:
    count(clock, "a", *searched(site_id, times=4), opened(site_id, 7, visits=5), bought(site_id, 7, visits=5))
    assert counts() == {}


@pytest.mark.parametrize(("opens", "bought"), [(4, 0), (9, 4)])
def test_the_database_refuses_a_row_that_few_share(site_id: int, opens: int, bought: int) -> None:
    of_week = {"site_id": site_id, "week": WEEK, "word": "tent", "product_id": 7, "weight": 0}
    with pytest.raises(IntegrityError), transaction():
        db.session.add(SearchProductWeek(**of_week, opens=opens, bought=bought))


def test_nothing_counts_of_a_search_that_was_not_followed_or_not_kept(clock: StoppedClock, site_id: int) -> None:
    of_both = opened(site_id, 7, visits=5), opened(site_id, 7, word="stove", visits=5)
    count(clock, "a", *searched(site_id, times=9, followed=False), *of_both)
    assert counts() == {}


def test_nothing_counts_while_the_shop_does_not_learn(clock: StoppedClock, site_id: int) -> None:
    switch_learning(site_id, "off")
    count(clock, "a", *searched(site_id, times=9), opened(site_id, 7, visits=5))
    assert counts() == {}


def test_a_week_keeps_so_many_products_and_goes_on_counting_those(clock: StoppedClock, site_id: int) -> None:
    events = (opened(site_id, number, visits=5) for number in range(1, MOST_PRODUCTS + 1))
    count(clock, "a", *searched(site_id, times=6), *events)
    count(clock, "b", opened(site_id, 1), opened(site_id, MOST_PRODUCTS + 1, visits=5))
    kept = counts()
    assert len(kept) == MOST_PRODUCTS and kept["tent", 1][0] == 6


def test_counts_of_products_go_after_nine_weeks(clock: StoppedClock, site_id: int) -> None:
    count(clock, "a", *searched(site_id, times=5), opened(site_id, 7, visits=5))
    clock.move(days=(WEEK + timedelta(days=62) - clock.now().date()).days)
    purged(clock, *RETENTIONS)
    assert counts()
    clock.move(days=1)
    purged(clock, *RETENTIONS)
    db.session.rollback()
    assert counts() == {}


def test_the_table_has_no_place_for_who_or_from_where_or_a_day() -> None:
    names = {column.name for column in SearchProductWeek.__table__.columns}
    assert names == {"site_id", "week", "word", "product_id", "opens", "weight", "bought"}


def test_lines_say_no_time_of_day_and_those_of_earlier_releases_about_single_visits_are_dropped() -> None:
    event = Event(EventKind.CLICKED, 3, "tent", TODAY)
    assert len(as_json(event)) == 9 and from_json(as_json(event)) == event
    assert as_json(event)[4] == 0
    event = opened(3, 7, 4)
    assert from_json(as_json(event)) == event
    single = ["opened", 3, "tent", "2026-11-20", 1_763_640_000, None, 0, 0, 0, "", 7, 3, 1]
    assert from_json(single) is None
