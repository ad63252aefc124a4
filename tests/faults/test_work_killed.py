"""Whoever counts searches, or replays them on a change, is killed: each search is counted once, and the report is that
of an undisturbed replay."""

from __future__ import annotations

import os
import signal
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import func, select

from app.adapters.queue import RqQueue
from app.domain.relevance import replays
from app.domain.relevance.models import SearchReplay
from app.domain.relevance.proposals import SynonymProposal
from app.domain.relevance.replays import REPLAY
from app.domain.search.serving.synonyms import SynonymGroup, SynonymType
from app.domain.search_statistics.counting.events import Event, EventKind
from app.domain.search_statistics.counting.file_spool import search_spool
from app.domain.search_statistics.counting.queries import site_today
from app.domain.search_statistics.models import SearchDay, SearchWordDay
from app.domain.shared.author import Author
from app.domain.work import leases
from app.extensions import db
from app.operations.supervisor.embedded_redis import EmbeddedRedis
from app.transaction import transaction
from tests.fakes.clock import SetClock
from tests.faults.deeds import Deed, has_ended
from tests.faults.shops import SITE, Shop, need_strace
from tests.waiting import until

MOST_STATEMENTS = 300
KILLED = -signal.SIGKILL
MANY = 60_000  # More than one batch.


def note(shop: Shop, searches: int) -> None:
    """Of two words, on one day."""
    spool, now = search_spool(shop.config.counting_folder), datetime.now(UTC)
    words = [f"word {number % 2}" for number in range(searches)]
    spool.note([Event(EventKind.SEARCHED, SITE, word, now.date(), 3, followed=True) for word in words])


def counted(shop: Shop) -> int:
    """As often by the day as by its words."""
    with shop.opened():
        by_day = db.session.scalar(select(func.coalesce(func.sum(SearchDay.searches), 0)))
        assert by_day == db.session.scalar(select(func.coalesce(func.sum(SearchWordDay.searches), 0)))
        return by_day or 0


def test_each_search_is_counted_once_however_often_the_drain_is_killed(shop: Shop) -> None:
    """Every try has one statement more, and finds more searches than the one before."""
    noted = kills = 0
    for number in range(1, MOST_STATEMENTS):
        note(shop, 6)
        noted += 6
        status = shop.do("drain", f"statement:{number}").finish()
        if status == 0:
            break
        assert status == KILLED
        kills += 1
        assert counted(shop) < noted
    assert kills > 3
    assert shop.do("drain", "none").finish() == 0
    assert counted(shop) == noted


@pytest.mark.parametrize("point", ["commit", "committed"])
def test_a_drain_that_is_killed_around_its_commit_counts_once(shop: Shop, point: str) -> None:
    note(shop, 6)
    assert shop.do("drain", point).finish() == KILLED
    assert counted(shop) == (6 if point == "committed" else 0)
    assert shop.do("drain", "none").finish() == 0
    assert counted(shop) == 6


@pytest.mark.parametrize("call", ["rename", "unlink"])
def test_a_drain_that_is_killed_at_its_files_counts_once(shop: Shop, call: str) -> None:
    need_strace()
    note(shop, 6)
    drain = shop.do("drain", "none", strace=("-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when=1"))
    assert drain.finish() != 0 and not drain.said
    note(shop, 6)
    for _ in range(2):
        assert shop.do("drain", "none").finish() == 0
    assert counted(shop) == 12


@pytest.mark.fault("F35")
def test_days_keep_their_sum_in_the_night_that_turns_the_clocks_back_though_the_drain_is_killed(shop: Shop) -> None:
    """A search every half hour of three days of London, the second of 25 hours; each day is drained when it is over."""
    days = [date(2026, 10, 24 + number) for number in range(3)]
    spool, place = search_spool(shop.config.counting_folder), ZoneInfo("Europe/London")
    shop.clock_file = shop.folder / "clock"
    at = datetime.combine(days[0], time(), place).astimezone(UTC)
    for day in days:
        while at.astimezone(place).date() == day:
            spool.note([Event(EventKind.SEARCHED, SITE, "tent", day, 3)])
            at += timedelta(minutes=30)
        SetClock.set(shop.clock_file, at - datetime.now(UTC))
        assert shop.do("drain", "statement:3").finish() == KILLED
        assert shop.do("drain", "none").finish() == 0
    with shop.opened():
        by_day = dict(db.session.execute(select(SearchDay.day, SearchDay.searches)).all())
    assert by_day == dict(zip(days, (48, 50, 48), strict=True))
    assert counted(shop) == 48 + 50 + 48


def test_what_a_killed_worker_did_not_count_the_next_does(shop: Shop, redis: EmbeddedRedis) -> None:
    """Real workers, which are killed with the processes of their jobs."""
    note(shop, MANY)
    queue = RqQueue(redis.url, shop.config.queue_prefix)
    first = shop.do("work", "default")
    queue.enqueue("search_statistics:drain")
    until(lambda: counted(shop))
    killed = (first.pid, *jobs_of(first))
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    until(lambda: all(map(has_ended, killed)))  # Until then it holds the lock, and another drain leaves it alone.
    assert shop.do("drain", "none").finish() == 0
    assert counted(shop) == MANY


def jobs_of(worker: Deed) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{worker.pid}/task/{worker.pid}/children").read_text().split()]


@pytest.fixture
def replay_id(shop: Shop) -> str:
    with shop.opened() as indexing, transaction():
        day = site_today(indexing.clock, SITE)
        searches = {f"name {number}": 100 - number for number in range(60)}
        db.session.add_all(
            SearchWordDay(site_id=SITE, day=day, word=word, searches=times) for word, times in searches.items()
        )
        group = SynonymGroup(SynonymType.EQUIVALENT, None, ("name", "gibt"))
        return replays.request(Author(SITE, "tests", indexing.clock), SynonymProposal(group)).id


def row_of(shop: Shop) -> SearchReplay:
    with shop.opened():
        row = db.session.scalars(select(SearchReplay)).one()
        db.session.expunge(row)
        return row


def test_a_replay_is_done_however_often_its_worker_is_killed(shop: Shop, replay_id: str) -> None:
    """The lock tells at once that the worker is dead; the next begins anew."""
    for number in (2, 5, 9):
        assert shop.do("replay", replay_id, f"statement:{number}").finish() == KILLED
        row = row_of(shop)
        assert row.state in ("waiting", "running") and row.report == {}
        release_dead(shop)
    last = shop.do("replay", replay_id, "none")
    assert last.finish() == 0 and last.said == ["True"]
    row = row_of(shop)
    assert (row.state, row.done, row.total, row.report["replayed"]) == ("done", 60, 60, 60)


def release_dead(shop: Shop) -> None:
    """As the scheduler does each second."""
    with shop.opened() as indexing, transaction():
        leases.release_dead(REPLAY, indexing.clock, indexing.locks)
