"""Clicks on interleaved searches: carried in the shopper's cookie, counted once for a side, and bounded by the day's
clicks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from app.domain.search.ranking.interleaving import SEEDS, Side
from app.domain.search_statistics.counting import attribution as rules
from app.domain.search_statistics.counting.aggregation import aggregate, aggregate_wins
from app.domain.search_statistics.counting.attribution import (
    LONGEST_JOURNEY,
    Compared,
    EventContext,
    Journey,
    ResultsPage,
    from_text,
    to_text,
)
from app.domain.search_statistics.counting.comparison_counts import clicks_a_day, wins_of, write_wins
from app.domain.search_statistics.counting.events import COLUMNS, Event, EventKind, as_json, from_json
from app.domain.search_statistics.counting.gathering import gather
from app.domain.search_statistics.models import RankingComparison, SearchDay
from app.domain.search_statistics.verdicts import Wins
from app.domain.shared.memory import MachineMemory, RunningCount, Span
from app.domain.sites.models import Site
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_comparison, make_site

BEGAN = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
DAY = BEGAN.date()
SIDES = (None, Side.PRESENT, Side.CANDIDATE)
INTERLEAVED = Compared(seed=8, comparison_id=5, sides=SIDES)


def at(minutes: float) -> EventContext:
    return EventContext(7, BEGAN + timedelta(minutes=minutes), DAY)


def searched(journey: Journey, compared: Compared, minutes: float = 0, **more: bool) -> Journey:
    """The journey after a search of three products, by way of the cookie."""
    after, _ = rules.searched(journey, at(minutes), ResultsPage("tent", (11, 12, 13), 3, compared=compared, **more))
    return from_text(to_text(after))


def sides_of(journey: Journey, *opened: int) -> list[tuple[int, Side | None]]:
    """The clicks that decide, or do not, after these products were opened one after the other."""
    found = []
    for product_id in opened:
        journey, events = rules.opened(journey, at(1), product_id)
        found += [(event.comparison_id, event.side) for event in events if event.kind is EventKind.COMPARED]
        journey = from_text(to_text(journey))
    return found


@pytest.mark.parametrize(("product_id", "side"), [(11, None), (12, Side.PRESENT), (13, Side.CANDIDATE)])
def test_the_first_click_is_of_the_side_that_placed_the_product(product_id: int, side: Side | None) -> None:
    assert sides_of(searched(Journey(), INTERLEAVED), product_id, 12, 13) == [(5, side)]


def test_a_search_that_is_not_interleaved_decides_nothing() -> None:
    assert sides_of(searched(Journey(), Compared(seed=8)), 12) == []
    assert sides_of(searched(Journey(), Compared()), 12) == []


def test_a_later_page_and_a_filtered_one_have_no_sides_and_the_first_page_has_them_again() -> None:
    first = searched(Journey(), INTERLEAVED)
    later = searched(first, Compared(8, 5, ()), 1, is_first=False, is_top=False)
    assert sides_of(later, 12) == [(5, None)]
    assert sides_of(searched(first, Compared(8), 1, is_first=False), 12) == [(5, None)]
    assert sides_of(searched(later, INTERLEAVED, 2), 12) == [(5, Side.PRESENT)]


def test_a_visit_keeps_its_seed_and_the_next_visit_has_another() -> None:
    journey = searched(Journey(), INTERLEAVED)
    assert journey.seed_at(BEGAN + timedelta(minutes=29)) == 8
    assert journey.seed_at(BEGAN + timedelta(minutes=31)) is None
    assert searched(journey, Compared(seed=0), 40).seed_at(BEGAN + timedelta(minutes=41)) == 0


def test_a_journey_without_comparisons_is_written_as_before() -> None:
    plain = searched(Journey(), Compared())
    assert to_text(plain)[0] == rules.VERSION
    assert to_text(searched(Journey(), INTERLEAVED))[0] == rules.WITH_SIDES


@given(
    st.integers(0, SEEDS - 1),
    st.integers(1, 10**9),
    st.lists(st.sampled_from([None, *Side]), min_size=1, max_size=24),
)
def test_what_a_comparison_adds_comes_back_from_the_cookie(
    seed: int, comparison_id: int, sides: list[Side | None]
) -> None:
    shown = tuple(range(100, 100 + len(sides)))
    page = ResultsPage("tent", shown, len(shown), compared=Compared(seed, comparison_id, tuple(sides)))
    after, _ = rules.searched(Journey(), at(0), page)
    assert from_text(to_text(after)) == after
    assert [after.searches[0].side_of(product_id) for product_id in shown] == sides


@given(st.binary(max_size=80))
def test_bytes_that_are_no_journey_with_sides_are_an_empty_one(text: bytes) -> None:
    assert isinstance(from_text(bytes([rules.WITH_SIDES]) + text), Journey)


def test_twelve_interleaved_searches_of_the_largest_pages_fit_into_the_cookie() -> None:
    journey = Journey()
    for number in range(12):
        shown = tuple(range(number, 900_000, 9_000))
        page = ResultsPage(f"a search {number}", shown, 100, compared=Compared(3, 10**6, (Side.CANDIDATE,) * 24))
        journey, _ = rules.searched(journey, at(number), page)
    assert len(to_text(journey)) <= LONGEST_JOURNEY
    assert from_text(to_text(journey)).searches[-1].sides == (Side.CANDIDATE,) * 24


COMPARED = Event(EventKind.COMPARED, 7, "tent", DAY, comparison_id=5)
FIVE = [Side.CANDIDATE, Side.PRESENT, None, Side.CANDIDATE, Side.CANDIDATE]


def group_of(wins: Wins) -> Event:
    """The group of clicks that passes for these wins."""
    return replace(COMPARED, word="", visits=wins.total, weight=wins.as_number)


class Shoppers:
    """Those who decide in a shop, with its memory."""

    def __init__(self) -> None:
        self.memory = MachineMemory()

    def choose(self, sides: Iterable[Side | None], networks: Iterable[str | None], **more: object) -> list[Event]:
        """What passes when one of each network chose a side."""
        clicks = zip(sides, networks, strict=False)
        passed = (gather(self.memory, BEGAN, replace(COMPARED, side=side, **more), network) for side, network in clicks)
        return [event for event in passed if event is not None]


def networks(first: int = 0) -> Iterator[str]:
    return (f"network {number}" for number in count(first))


def test_an_event_comes_back_from_its_line() -> None:
    event = group_of(Wins(1, 3, 1))
    line = json.loads(json.dumps(as_json(event)))
    assert from_json(line) == event and len(line) > COLUMNS
    assert from_json([*line[:-1], "both"]) is None


def test_the_wins_of_five_networks_pass_together_and_beside_the_click_of_a_sixth() -> None:
    shoppers = Shoppers()
    assert shoppers.choose(FIVE, networks()) == []
    assert shoppers.choose([Side.PRESENT], ["a sixth"]) == [group_of(Wins(1, 3, 1))]
    assert shoppers.choose([Side.PRESENT] * 4, networks(10)) == []
    assert shoppers.choose([None], ["an eleventh"]) == [group_of(Wins(5, 0, 0))]


def test_clicks_of_shoppers_whose_networks_are_hidden_pass_in_groups_too() -> None:
    assert Shoppers().choose([*FIVE, *FIVE, None], [None] * 11) == [group_of(Wins(1, 3, 1))] * 2


def test_a_network_is_in_a_group_once_however_often_it_searches() -> None:
    shoppers = Shoppers()
    for number in range(10):
        assert shoppers.choose([Side.PRESENT], ["one"], word=f"tent {number}") == []
    assert shoppers.choose([Side.CANDIDATE] * 4, networks()) == []
    assert shoppers.choose([None], ["another"]) == [group_of(Wins(1, 4, 0))]


def test_a_network_counts_once_a_day_for_a_search() -> None:
    shoppers = Shoppers()
    shoppers.choose([Side.PRESENT] * 9, ["one"] * 9)
    assert shoppers.choose([Side.CANDIDATE] * 5, networks()) == [group_of(Wins(1, 4, 0))]


def test_comparisons_days_and_sites_are_gathered_apart() -> None:
    shoppers = Shoppers()
    for more in ({}, {"comparison_id": 6}, {"day": DAY - timedelta(days=1)}, {"site_id": 8}):
        assert shoppers.choose(FIVE, networks(), **more) == []


def test_a_group_of_which_a_click_is_missing_is_dropped_and_the_next_one_is_not() -> None:
    class Forgetful(MachineMemory):
        """Loses what the third click adds to its group."""

        def add(self, span: Span, key: str, now: datetime, weight: int = 0) -> RunningCount | None:
            return None if weight == Wins(0, 0, 1).as_number else super().add(span, key, now, weight)

    shoppers = Shoppers()
    shoppers.memory = Forgetful()
    whole = [Side.PRESENT] * 5
    assert shoppers.choose([*FIVE, *whole, Side.PRESENT], networks()) == [group_of(Wins(5, 0, 0))]


@given(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))
def test_wins_come_back_from_their_number(present: int, candidate: int, ties: int) -> None:
    wins = Wins(present, candidate, ties)
    assert Wins.of_number(wins.as_number) == wins


def test_groups_of_comparisons_are_summed_by_day_and_are_no_counts_of_words() -> None:
    clicked = Event(EventKind.CLICKED, 7, "tent", DAY)
    groups = [group_of(Wins(1, 3, 1)), group_of(Wins(4, 1, 0))]
    assert aggregate_wins([clicked, *groups]) == {(5, DAY): Wins(5, 4, 1)}
    assert [change.word for change in aggregate([clicked, *groups])] == ["tent"]


@pytest.mark.parametrize("event", [COMPARED, group_of(Wins(0, 1, 0)), replace(group_of(Wins(5, 0, 0)), visits=6)])
def test_a_line_that_is_no_whole_group_counts_for_no_side(event: Event) -> None:
    assert aggregate_wins([event]) == {}


def start(site_id: int, clicked: int = 10, **more: object) -> int:
    with transaction():
        db.session.add(SearchDay(site_id=site_id, day=DAY, searches=50, clicked=clicked))
        return make_comparison(db.session.get_one(Site, site_id), **more).id


def add(site_id: int, comparison_id: int, wins: Wins, day: date = DAY) -> Wins:
    with transaction():
        write_wins(site_id, {(comparison_id, day): wins})
    return wins_of(site_id, [comparison_id])[comparison_id]


def test_wins_add_up_to_as_many_as_the_day_has_clicks(site_id: int) -> None:
    comparison_id = start(site_id, clicked=10)
    assert add(site_id, comparison_id, Wins(2, 3, 1)) == Wins(2, 3, 1)
    assert add(site_id, comparison_id, Wins(0, 5, 0)) == Wins(2, 3, 1), "more than there were clicks"
    assert add(site_id, comparison_id, Wins(1, 2, 1)) == Wins(3, 5, 2)
    assert add(site_id, comparison_id, Wins(1, 0, 0), DAY + timedelta(days=1)) == Wins(3, 5, 2), "a day without clicks"


def test_wins_of_another_comparison_of_an_ended_one_and_of_another_site_are_dropped(site_id: int) -> None:
    comparison_id = start(site_id)
    with transaction():
        other_site = make_site("other.test").id
    assert add(site_id, comparison_id + 1, Wins(1, 0, 0)) == Wins()
    assert add(other_site, comparison_id, Wins(1, 0, 0)) == Wins()
    assert wins_of(site_id, [comparison_id])[comparison_id] == Wins()
    with transaction():
        row = db.session.scalars(select(RankingComparison)).one()
        row.ended_at, row.ending = BEGAN, "stopped"
    assert add(site_id, comparison_id, Wins(1, 0, 0)) == Wins()


def test_the_rate_of_clicks_is_that_of_the_four_weeks_before_today(site_id: int) -> None:
    start(site_id, clicked=56)
    assert clicks_a_day(site_id, DAY + timedelta(days=1)) == 2
    assert clicks_a_day(site_id, DAY) == 0
    assert clicks_a_day(site_id, DAY + timedelta(days=29)) == 0
