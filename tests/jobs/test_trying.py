"""Replays that no worker does are asked for again, done or ended; golden searches are checked after each change."""

from __future__ import annotations

import pytest
from sqlalchemy import select, update

from app.adapters.queue import JOBS
from app.domain.catalogue.bulk import INDEX_IS_TOLD
from app.domain.catalogue.models import Product
from app.domain.search.index.indexing import Indexing
from app.domain.search.live.served import SynonymGroup, SynonymType
from app.domain.search.models import RebuildRun
from app.domain.search.trying import golden, replays
from app.domain.search.trying.models import SearchReplay
from app.domain.search.trying.proposal import SynonymProposal
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.jobs.indexing import rebuild
from app.jobs.scheduler import Scheduler
from app.jobs.trying import check_golden
from app.transaction import transaction
from tests.domain.search.trying.trying_shop import save_synonym, shop
from tests.fakes.clock import StoppedClock
from tests.fakes.queue import RecordingQueue
from tests.searching import request

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


def test_golden_searches_are_checked_soon_after_a_change_and_not_again_before_the_next(
    indexing: Indexing, queue: RecordingQueue, clock: StoppedClock
) -> None:
    site_id = shop(indexing)
    scheduler = Scheduler(_at_once)
    scheduler.look()
    assert _asked(queue) == [], "a shop without golden searches costs nothing"
    _add_golden(indexing, site_id)
    scheduler.look()
    scheduler.look()
    assert _asked(queue) == [("trying:check_golden", (site_id,))]
    clock.move(seconds=5)
    scheduler.look()
    assert len(_asked(queue)) == 1
    save_synonym(indexing, site_id, "mug", "cup")
    scheduler.look()
    assert len(_asked(queue)) == 2
    clock.move(hours=1)
    scheduler.look()
    assert len(_asked(queue)) == 3, "rules begin and end by the clock"


def test_a_check_that_no_worker_did_is_asked_for_again_in_seconds_until_one_did(
    indexing: Indexing, queue: RecordingQueue, clock: StoppedClock
) -> None:
    site_id = shop(indexing)
    _add_golden(indexing, site_id)
    check_golden(site_id)
    scheduler = Scheduler(_at_once)
    clock.move(seconds=1)
    scheduler.look()
    assert len(_asked(queue)) == 1, "who begins to watch does not know what that check saw"
    clock.move(seconds=10)
    scheduler.look()
    assert len(_asked(queue)) == 2, "what it shows is older than the change"
    clock.move(seconds=1)
    check_golden(site_id)
    clock.move(minutes=59)
    scheduler.look()
    assert len(_asked(queue)) == 2
    clock.move(minutes=1)
    scheduler.look()
    scheduler.look()
    assert len(_asked(queue)) == 3


def test_a_search_engine_that_was_away_is_asked_again_in_seconds(
    indexing: Indexing, queue: RecordingQueue, clock: StoppedClock
) -> None:
    queue.down = True
    site_id = shop(indexing)
    _add_golden(indexing, site_id)
    away = [lambda: None]  # A worker that found the engine away leaves everything as it was.

    def background(_name: str, work) -> bool:
        (away.pop() if away else work)()
        return True

    scheduler = Scheduler(background)
    scheduler.look()
    assert golden.golden_state(site_id).unchecked == 1
    clock.move(seconds=10)
    scheduler.look()
    assert golden.golden_state(site_id).passing == 1


def test_without_a_queue_they_are_checked_beside_the_scheduler(
    indexing: Indexing, queue: RecordingQueue, clock: StoppedClock
) -> None:
    queue.down = True
    site_id = shop(indexing)
    _add_golden(indexing, site_id)
    Scheduler(_at_once).look()
    assert golden.golden_state(site_id).passing == 1


def test_a_busy_background_is_asked_again(indexing: Indexing, queue: RecordingQueue) -> None:
    queue.down = True
    site_id = shop(indexing)
    _add_golden(indexing, site_id)
    names: list[str] = []

    def busy(name: str, _work) -> bool:
        names.append(name)
        return False

    scheduler = Scheduler(busy)
    scheduler.look()
    scheduler.look()
    assert names.count(f"golden searches of site {site_id}") == 2


def test_the_job_leaves_what_is_known_while_search_is_away(indexing: Indexing) -> None:
    site_id = shop(indexing)
    _add_golden(indexing, site_id)
    check_golden(site_id)
    indexing.engine.forget(site_id)
    check_golden(site_id)
    assert golden.golden_state(site_id).passing == 1


def _add_golden(indexing: Indexing, site_id: int) -> None:
    with transaction():
        golden.add(indexing.clock, site_id, golden.GoldenDraft("mug", "MUG-1", 5), "Mia")


def _asked(queue: RecordingQueue) -> list[tuple[str, tuple[object, ...]]]:
    return [job for job in queue.jobs if job[0] == "trying:check_golden"]


def test_the_job_that_rebuilds_holds_back_what_breaks_a_golden_search(indexing: Indexing, clock: StoppedClock) -> None:
    site_id = shop(indexing)
    with transaction():
        change_settings(site_id, {"search-golden-hold": True})
        golden.add(clock, site_id, golden.GoldenDraft("water", "JUG-1", 1), "Mia")
    with transaction():
        of_sku = update(Product).where(Product.site_id == site_id, Product.sku == "JUG-1")
        db.session.execute(of_sku.values(name="Else"), execution_options=INDEX_IS_TOLD)
    run_id = request(indexing, site_id)
    rebuild(run_id)
    db.session.rollback()
    run = db.session.get_one(RebuildRun, run_id)
    assert run.state == "failed" and "held back" in (run.error or "")
    with transaction():
        change_settings(site_id, {"search-golden-hold": False})
    run_id = request(indexing, site_id)
    rebuild(run_id)
    db.session.rollback()
    assert db.session.get_one(RebuildRun, run_id).state == "done"
