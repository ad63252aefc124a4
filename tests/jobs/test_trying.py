"""Replays that no worker does are asked for again, done or ended."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from app.adapters.queue import JOBS
from app.domain.search.indexing import Indexing
from app.domain.search.live.served import SynonymGroup, SynonymType
from app.domain.search.trying import replays
from app.domain.search.trying.models import SearchReplay
from app.domain.search.trying.proposal import SynonymProposal
from app.extensions import db
from app.jobs.scheduler import Scheduler
from app.transaction import transaction
from tests.domain.search.trying_shop import shop
from tests.fakes.clock import StoppedClock
from tests.fakes.queue import RecordingQueue

pytestmark = pytest.mark.usefixtures("context")


@pytest.fixture
def replay_id(indexing: Indexing) -> str:
    site_id = shop(indexing)
    change = SynonymProposal(SynonymGroup(SynonymType.EQUIVALENT, None, ("mug", "cup")))
    with transaction():
        return replays.request(indexing.clock, site_id, change, "Mia").id


def _state(replay_id: str) -> str:
    db.session.rollback()
    return db.session.scalars(select(SearchReplay.state).where(SearchReplay.id == replay_id)).one()


def _at_once(_name: str, work) -> bool:
    work()
    return True


def test_asking_wakes_the_worker(replay_id: str, queue: RecordingQueue) -> None:
    assert ("trying:replay", (replay_id,)) in queue.jobs
    assert "trying:replay" in JOBS


def test_a_lost_replay_is_asked_for_again_after_ten_seconds(
    replay_id: str, queue: RecordingQueue, clock: StoppedClock
) -> None:
    scheduler = Scheduler(_at_once)
    queue.jobs.clear()
    scheduler.look()
    clock.move(seconds=9)
    scheduler.look()
    assert queue.jobs == []
    clock.move(seconds=1)
    scheduler.look()
    assert queue.jobs == [("trying:replay", (replay_id,))]


def test_without_a_queue_it_is_done_beside_the_scheduler(
    replay_id: str, queue: RecordingQueue, clock: StoppedClock
) -> None:
    queue.down = True
    scheduler = Scheduler(_at_once)
    scheduler.look()
    clock.move(seconds=10)
    scheduler.look()
    assert _state(replay_id) == "done"


def test_what_stays_undone_is_ended(replay_id: str, clock: StoppedClock) -> None:
    clock.move(minutes=16)
    Scheduler(_at_once).look()
    assert _state(replay_id) == "failed"
