"""How often products were opened and bought from a search: by day, bounded, and of nobody."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from app.domain.search_statistics.counting.events import Event, EventKind, as_json, from_json
from app.domain.search_statistics.counting.models import SearchProductDay
from app.domain.search_statistics.counting.product_counts import MOST_PRODUCTS
from app.domain.search_statistics.counting.purge import RETENTIONS
from app.domain.search_statistics.counting.spool import EventBatch
from app.extensions import db
from app.transaction import transaction
from tests.counted_searches import count_batch
from tests.fakes.clock import StoppedClock
from tests.purging import purged

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
TODAY = NOW.date()
pytestmark = pytest.mark.usefixtures("context")


def searched(site_id: int, word: str = "tent", times: int = 1, followed: bool = True) -> list[Event]:
    return [Event(EventKind.SEARCHED, site_id, word, TODAY, NOW, 3, followed)] * times


def opened(site_id: int, product_id: int, place: int | None = 1, word: str = "tent") -> Event:
    return Event(EventKind.OPENED, site_id, word, TODAY, NOW, product_id=product_id, place=place)


def bought(site_id: int, product_id: int) -> Event:
    return Event(EventKind.BOUGHT, site_id, "tent", TODAY, NOW, product_id=product_id)


def count(clock: StoppedClock, name: str, *events: Event) -> None:
    with transaction():
        count_batch(clock, EventBatch(name, events))


def counts() -> dict[tuple[str, int], tuple[int, int, int]]:
    """By search and product: opens, their weight in hundredths, purchases."""
    rows = db.session.scalars(select(SearchProductDay))
    return {(row.word, row.product_id): (row.opens, row.weight, row.bought) for row in rows}


def test_opens_count_by_the_place_at_which_the_product_stood(clock: StoppedClock, site_id: int) -> None:
    count(clock, "a", *searched(site_id, times=3), opened(site_id, 7, 1), opened(site_id, 7, 3), opened(site_id, 8, 24))
    count(clock, "b", opened(site_id, 7, None), bought(site_id, 7))
    assert counts() == {("tent", 7): (3, 400, 1), ("tent", 8): (1, 464, 0)}


def test_opens_of_new_networks_are_a_number_beside_them(clock: StoppedClock, site_id: int) -> None:
    new = replace(opened(site_id, 7, 3), of_new_network=True)
    assert from_json(as_json(new)) == new
    count(clock, "a", *searched(site_id, times=3), new, opened(site_id, 7), new)
    count(clock, "b", new, new)
    [row] = db.session.scalars(select(SearchProductDay))
    assert (row.opens, row.networks) == (3, 2), "of what no search led to, nothing"


def test_a_journey_that_is_sent_again_and_again_adds_no_more_than_its_searches(
    clock: StoppedClock, site_id: int
) -> None:
    count(clock, "a", *searched(site_id, times=2), *[opened(site_id, 7, 3)] * 10, *[bought(site_id, 7)] * 10)
    count(clock, "b", *[opened(site_id, 7, 3)] * 10, *[bought(site_id, 7)] * 10)
    assert counts() == {("tent", 7): (2, 400, 2)}


def test_nothing_counts_of_a_search_that_was_not_followed_or_not_kept(clock: StoppedClock, site_id: int) -> None:
    count(clock, "a", *searched(site_id, followed=False), opened(site_id, 7), opened(site_id, 7, word="stove"))
    assert counts() == {}


def test_a_day_keeps_so_many_products_and_goes_on_counting_those(clock: StoppedClock, site_id: int) -> None:
    events = (opened(site_id, number) for number in range(1, MOST_PRODUCTS + 1))
    count(clock, "a", *searched(site_id, times=2), *events)
    count(clock, "b", opened(site_id, 1), opened(site_id, MOST_PRODUCTS + 1))
    kept = counts()
    assert len(kept) == MOST_PRODUCTS and kept["tent", 1][0] == 2


def test_counts_of_products_go_after_sixty_days(clock: StoppedClock, site_id: int) -> None:
    count(clock, "a", *searched(site_id), opened(site_id, 7))
    clock.move(days=(TODAY + timedelta(days=59) - clock.now().date()).days)
    purged(clock, *RETENTIONS)
    assert counts()
    clock.move(days=1)
    purged(clock, *RETENTIONS)
    db.session.rollback()
    assert counts() == {}


def test_the_table_has_no_place_for_who_or_from_where() -> None:
    names = {column.name for column in SearchProductDay.__table__.columns}
    assert names == {"site_id", "day", "word", "product_id", "opens", "weight", "bought", "networks"}


def test_lines_that_were_written_before_products_were_counted_are_read() -> None:
    event = Event(EventKind.CLICKED, 3, "tent", TODAY, NOW)
    assert len(as_json(event)) == 9 and from_json(as_json(event)) == event
    event = opened(3, 7, 4)
    assert from_json(as_json(event)) == event
