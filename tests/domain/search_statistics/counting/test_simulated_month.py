"""A month of shopper traffic made from real searches: what is counted is what happened, to the last one."""

from __future__ import annotations

import csv
import random
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from app.domain.search_statistics.counting import attribution as rules
from app.domain.search_statistics.counting import rolling_sums
from app.domain.search_statistics.counting.attribution import EventContext, Journey, ResultsPage, from_text, to_text
from app.domain.search_statistics.counting.days import day_at
from app.domain.search_statistics.counting.events import Event
from app.domain.search_statistics.counting.file_spool import search_spool
from app.domain.search_statistics.counting.gathering import countable
from app.domain.search_statistics.counting.spool import Spool
from app.domain.search_statistics.models import SearchDay, SearchWordDay
from app.extensions import db
from app.transaction import transaction
from tests.counted_searches import count_batch
from tests.fakes.clock import StoppedClock
from tests.surroundings import DATA, missing

ZONE = "Europe/London"
BEGAN = datetime(2026, 10, 12, tzinfo=UTC)  # Clocks are turned back in London on the 25th.
DAYS = 30
RunningCount = Counter[tuple[date, str, str]]


def real_searches() -> list[str]:
    """Each as often as it was made, those that were made least once."""
    path = DATA / "relevance" / "queries.csv"
    if not path.exists():
        missing("the real searches are not beside the repository")
    with path.open(newline="") as file:
        return [row["query"] for row in csv.DictReader(file) for _ in range(max(1, int(row["popularity"])))]


class Month:
    """Shoppers as the specification describes them, each in a browser of their own; `truth` is kept beside, from what
    they were meant to do, not from what was counted."""

    def __init__(self, site_id: int) -> None:
        self.site_id, self.truth, self.dice = site_id, RunningCount(), random.Random(4)

    def walk(self, query: str) -> Iterator[list[Event]]:
        start = BEGAN + timedelta(seconds=self.dice.randrange(DAYS * 86_400))
        self.now, self.journey, self.day = start, Journey(), day_at(start, ZONE)
        word = countable(query)
        assert word is not None
        found = self.dice.choice((0, 1, 24, 200))
        shown = tuple(range(1, min(found, 24) + 1))
        self._count(word, searches=1, followed=1, found_nothing=int(found == 0))
        yield self._do(rules.searched, ResultsPage(word, shown, found))
        for _ in range(self.dice.randrange(3)):
            self._pass(minutes=20)
            yield self._do(rules.searched, ResultsPage(word, shown, found, is_first=self.dice.random() < 0.5))
        if shown and self.dice.random() < 0.6:
            yield from self._buy(word, start)

    def _buy(self, word: str, start: datetime) -> Iterator[list[Event]]:
        self._pass(minutes=5)
        self._count(word, clicked=1)
        yield self._do(rules.opened, 1)
        yield self._do(rules.opened, 1)
        self._pass(minutes=self.dice.choice((1, 40)))
        in_time = self.now - start <= timedelta(minutes=30)
        self._count(word, added_to_basket=int(in_time))
        yield self._do(rules.added, 1)
        self._pass(minutes=self.dice.choice((5, 26 * 60)))
        in_time = in_time and self.now - start <= timedelta(days=1)
        self._count(word, ordered=int(in_time), revenue=1_999 * in_time)
        yield self._do(rules.ordered, [(1, 1_999), (77, 5)])
        yield self._do(rules.ordered, [(1, 1_999)])

    def _do(self, rule: object, argument: object) -> list[Event]:
        moment = EventContext(self.site_id, self.now, day_at(self.now, ZONE))
        after, events = rule(rules.current(self.journey, self.now), moment, argument)  # type: ignore[operator]
        self.journey = from_text(to_text(after))
        return list(events)

    def _pass(self, minutes: float) -> None:
        self.now += timedelta(minutes=minutes)

    def _count(self, word: str, **counts: int) -> None:
        for name, number in counts.items():
            self.truth[self.day, word, name] += number


@pytest.mark.usefixtures("context")
def test_a_month_of_traffic_is_counted_exactly(tmp_path: Path, site_id: int) -> None:
    clock, spool = StoppedClock(BEGAN + timedelta(days=DAYS)), search_spool(tmp_path / "counting")
    month = Month(site_id)
    for number, query in enumerate(real_searches()):
        for events in month.walk(query):
            spool.note(events)
        if number % 1500 == 0:
            _drain(clock, spool)
    _drain(clock, spool)
    truth = +month.truth
    assert _counted() == truth
    for name in ("searches", "found_nothing", "clicked", "added_to_basket", "ordered", "revenue"):
        by_day = Counter[date]()
        for (day, _, measure), number in truth.items():
            by_day[day] += number * (measure == name)
        stored = select(SearchDay.day, getattr(SearchDay, name))
        assert +Counter(dict(db.session.execute(stored).all())) == +by_day, name
    _windows_agree(site_id, clock.now().date(), truth)


def _drain(clock: StoppedClock, spool: Spool[Event]) -> None:
    with spool.batches() as batches:
        for batch in batches:
            with transaction():
                count_batch(clock, batch)
            spool.done(batch.id)


def _counted() -> RunningCount:
    names = ("searches", "followed", "found_nothing", "clicked", "added_to_basket", "ordered", "revenue")
    counted = RunningCount()
    for row in db.session.scalars(select(SearchWordDay)):
        counted.update({(row.day, row.word, name): getattr(row, name) for name in names})
    return +counted


def _windows_agree(site_id: int, today: date, truth: RunningCount) -> None:
    for days in rolling_sums.PERIODS:
        sums = rolling_sums.select_sums(site_id, today, days)
        first = rolling_sums.first_day(today, days)
        meant = sum(number for (day, _, name), number in truth.items() if name == "revenue" and first <= day <= today)
        assert sum(db.session.scalars(select(sums.c.revenue))) == meant
