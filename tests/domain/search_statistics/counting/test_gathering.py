"""What a shopper does counts once, and what fewer than five visits share is not stored."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from app.domain.search_statistics.counting.events import Event, EventKind
from app.domain.search_statistics.counting.gathering import FEWEST_VISITS, MOST_A_DAY, WORDS_A_DAY, gather
from app.domain.shared.memory import MachineMemory, RunningCount, Span

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)  # A Friday.
MONDAY = date(2026, 11, 16)
SEARCHED = Event(EventKind.SEARCHED, 1, "tent", NOW.date(), 3, True)
OPENED = Event(EventKind.OPENED, 1, "tent", NOW.date(), product_id=7, weight=100)
BOUGHT = Event(EventKind.BOUGHT, 1, "tent", NOW.date(), product_id=7)
REPHRASED = Event(EventKind.REPHRASED, 1, "cooktop", NOW.date(), next_word="hob")


class Shop:
    """The gathering of one shop, with its memory."""

    def __init__(self) -> None:
        self.memory, self.now = MachineMemory(), NOW

    def gather(self, event: Event, network: str | None = None, times: int = 1) -> list[Event]:
        passed = (gather(self.memory, self.now, event, network) for _ in range(times))
        return [event for event in passed if event is not None]


@pytest.mark.parametrize("event", [OPENED, BOUGHT, REPHRASED], ids=lambda event: event.kind.name)
def test_what_four_visits_share_is_not_stored_and_the_fifth_brings_all_of_them(event: Event) -> None:
    shop = Shop()
    for number in range(FEWEST_VISITS - 1):
        assert shop.gather(event, f"network {number}") == []
    of_week = replace(event, day=MONDAY, all_visits=5, all_weight=5 * event.weight)
    assert shop.gather(event, "another") == [replace(of_week, visits=FEWEST_VISITS, weight=5 * event.weight)]
    assert shop.gather(event, "one more") == [replace(of_week, all_visits=6, all_weight=6 * event.weight)]


@pytest.mark.parametrize("event", [OPENED, BOUGHT, REPHRASED], ids=lambda event: event.kind.name)
def test_one_network_counts_once_a_day_however_often_it_comes(event: Event) -> None:
    shop = Shop()
    assert shop.gather(event, "203.0.113.7", times=50) == []
    for number in range(FEWEST_VISITS - 2):
        assert shop.gather(event, f"network {number}") == []
    assert len(shop.gather(event, "another")) == 1


def test_visits_of_several_days_of_a_week_are_shared_and_those_of_another_are_not() -> None:
    shop = Shop()
    for back in range(4):
        assert shop.gather(replace(OPENED, day=NOW.date() - timedelta(days=back)), None) == []
    next_week = replace(OPENED, day=MONDAY + timedelta(days=7))
    shop.now = NOW + timedelta(days=3)
    assert shop.gather(next_week) == []
    assert shop.gather(replace(OPENED, day=MONDAY)) == [
        replace(OPENED, day=MONDAY, visits=5, weight=500, all_visits=5, all_weight=500)
    ]


def test_what_was_gathered_in_a_week_is_forgotten_with_it() -> None:
    shop = Shop()
    shop.gather(OPENED, times=4)
    shop.now += timedelta(days=14)
    assert shop.gather(OPENED) == [], "it is too late for that week"
    assert shop.gather(replace(OPENED, day=shop.now.date())) == []


def test_searches_products_and_sites_are_apart() -> None:
    shop = Shop()
    others = replace(OPENED, word="stove"), replace(OPENED, product_id=8), replace(OPENED, site_id=2), BOUGHT
    for event in (OPENED, *others):
        assert shop.gather(event, times=4) == []


def test_a_search_is_of_a_new_network_once_a_day() -> None:
    shop = Shop()
    first, second = shop.gather(SEARCHED, "203.0.113.7", times=2)
    [other] = shop.gather(SEARCHED, "198.51.100.7")
    assert [first.of_new_network, second.of_new_network, other.of_new_network] == [True, False, True]
    shop.now += timedelta(days=1)
    [tomorrow] = shop.gather(replace(SEARCHED, day=shop.now.date()), "203.0.113.7")
    assert tomorrow.of_new_network


def test_clicks_baskets_and_orders_pass_as_they_are() -> None:
    shop = Shop()
    for kind in (EventKind.CLICKED, EventKind.ADDED, EventKind.ORDERED):
        event = Event(kind, 1, "tent", NOW.date(), revenue=4_999)
        assert shop.gather(event, "203.0.113.7", times=3) == [event] * 3


def test_a_network_takes_up_no_more_than_its_share_of_a_day() -> None:
    shop = Shop()
    words = [replace(SEARCHED, word=f"word {number}") for number in range(WORDS_A_DAY + 20)]
    new = [shop.gather(word, "203.0.113.7")[0].of_new_network for word in words]
    assert new == [True] * WORDS_A_DAY + [False] * 20
    for number in range(MOST_A_DAY[EventKind.OPENED] + 20):
        for network in ("203.0.113.7", *map(str, range(FEWEST_VISITS - 2))):
            assert shop.gather(replace(OPENED, word=f"word {number}"), network) == []
    passed = [
        bool(shop.gather(replace(OPENED, word=f"word {number}"), "another"))
        for number in range(MOST_A_DAY[EventKind.OPENED] + 20)
    ]
    assert sum(passed) == MOST_A_DAY[EventKind.OPENED]


def test_without_a_memory_nothing_that_must_be_shared_is_stored() -> None:
    class NoMemory(MachineMemory):
        def add(self, span: Span, key: str, now: datetime, weight: int = 0) -> RunningCount | None:
            return None

    for _ in range(9):
        assert gather(NoMemory(), NOW, OPENED, None) is None
