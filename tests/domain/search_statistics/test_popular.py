"""Popular searches: what shoppers may see of the searches of others."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import select

from app.domain.search_statistics.counting.aggregation import WordChange
from app.domain.search_statistics.counting.queries import site_today
from app.domain.search_statistics.popular import (
    DAYS,
    FEWEST_DAYS,
    FEWEST_NETWORKS,
    FRESH,
    MOST,
    CountedSearch,
    PopularCache,
    counted_searches,
    presentable,
)
from app.domain.sites.models import Site
from app.extensions import db
from app.transaction import transaction
from tests.counted_searches import count, count_changes
from tests.factories import make_site
from tests.fakes.clock import StoppedClock

TENT = CountedSearch("tent", searches=40, found_nothing=0, networks=20, days=10, last_result_count=7)


def test_what_was_searched_for_from_several_networks_on_several_days_may_be_shown():
    assert presentable([TENT], []) == ["tent"]


@pytest.mark.parametrize(
    "other",
    [
        {"networks": FEWEST_NETWORKS - 1, "days": FEWEST_DAYS},
        {"networks": 19},
        {"networks": 200, "days": FEWEST_DAYS - 1},
        {"searches": 10_000, "networks": 30, "days": 30},
        {"last_result_count": 0},
        {"found_nothing": 20},
        {"words": "x"},
        {"words": "tent " * 20},
    ],
    ids=[
        "too few networks",
        "hardly more than one a day",
        "too few days",
        "one person each day",
        "found nothing of late",
        "mostly found nothing",
        "a letter",
        "a whole text",
    ],
)
def test_what_could_be_anybodys_own_or_finds_nothing_is_not_shown(other: dict[str, object]):
    assert presentable([replace(TENT, **other)], []) == []


def test_what_most_networks_searched_for_comes_first_however_often_one_does():
    mug = replace(TENT, words="mug", searches=5_000)
    lamp = replace(TENT, words="lamp", networks=21)
    assert presentable([mug, TENT, lamp], []) == ["lamp", "mug", "tent"]


def test_a_search_that_a_rule_sends_on_may_be_shown():
    assert presentable([replace(TENT, last_result_count=None)], []) == ["tent"]


@pytest.mark.parametrize(
    ("blocked", "shown"), [("tent", []), ("TENTS", []), ("ten", ["tent"]), ("family tent", ["tent"])]
)
def test_blocked_words_are_not_shown_in_any_number_or_case(blocked: str, shown: list[str]):
    assert presentable([TENT], [blocked]) == shown


@pytest.mark.usefixtures("context")
class TestInTheDatabase:
    @pytest.fixture
    def site_id(self) -> int:
        with transaction():
            return make_site().id

    def search(self, clock: StoppedClock, site_id: int, word: str, *days_ago: int, searches: int = 4) -> None:
        today = site_today(clock, site_id)
        with transaction():
            for ago in days_ago:
                count(site_id, today, today - timedelta(days=ago), word, searches=searches)

    def test_searches_are_read_with_the_days_on_which_they_were_made(self, clock: StoppedClock, site_id: int):
        self.search(clock, site_id, "tent", 0, 1, 5)
        self.search(clock, site_id, "mug", 0, searches=13)
        self.search(clock, site_id, "rare", 0)
        self.search(clock, site_id, "old", DAYS, DAYS + 1, DAYS + 2)

        assert [(one.words, one.searches, one.networks, one.days) for one in counted_searches(site_id)] == [
            ("tent", 12, 12, 3),
        ]

    def test_what_one_network_searches_for_ever_so_often_takes_no_other_search_its_place(
        self, clock: StoppedClock, site_id: int
    ):
        self.search(clock, site_id, "tent", 0, 1, 5)
        today = site_today(clock, site_id)
        with transaction():
            for day in (today, today - timedelta(days=1), today - timedelta(days=2)):
                bots = (f"bot {number}" for number in range(MOST + 1))
                changes = [WordChange(day, bot, 3, searches=400, followed=400, networks=1) for bot in bots]
                count_changes(site_id, today, changes)

        assert [one.words for one in counted_searches(site_id)] == ["tent"]

    def test_days_from_before_networks_were_counted_say_nothing_of_them(self, clock: StoppedClock, site_id: int):
        today = site_today(clock, site_id)
        with transaction():
            for ago in range(6):
                count(site_id, today, today - timedelta(days=ago), "tent", searches=9, networks=3 * (ago < 4))

        assert [(one.searches, one.networks, one.days) for one in counted_searches(site_id)] == [(54, 12, 4)]
        assert presentable(counted_searches(site_id), []) == ["tent"]

    def test_they_are_those_of_the_shop_alone(self, clock: StoppedClock, site_id: int):
        with transaction():
            other = make_site("other.test").id
        self.search(clock, other, "tent", 0, 1, 2)

        assert counted_searches(site_id) == []

    def test_they_are_read_again_after_some_minutes_and_at_once_for_other_blocked_words(
        self, clock: StoppedClock, site_id: int
    ):
        cache = PopularCache()
        assert list(cache.of(clock, site_id, ()).names) == []
        self.search(clock, site_id, "tent", 0, 1, 2)

        assert list(cache.of(clock, site_id, ()).names) == []
        assert list(cache.of(clock, site_id, ("mug",)).names) == ["tent"]
        first = cache.of(clock, site_id, ("mug",)).version
        clock.move(seconds=FRESH.total_seconds())
        assert cache.of(clock, site_id, ("mug",)).version == first, "the same searches are the same version"
        assert list(cache.of(clock, site_id, ("tent",)).names) == []

    def test_a_deleted_site_has_none(self, clock: StoppedClock, site_id: int):
        assert db.session.scalar(select(Site.id).where(Site.id == site_id + 7)) is None
        assert counted_searches(site_id + 7) == []
