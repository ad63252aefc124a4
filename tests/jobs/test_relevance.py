"""Golden searches are checked after each change of what they depend on."""

from __future__ import annotations

import pytest
from sqlalchemy import update

from app.domain.catalogue.models import INDEXED_SEPARATELY, Product
from app.domain.relevance import golden
from app.domain.search.engine import SearchContext
from app.domain.search.models import RebuildRun
from app.domain.shared.author import Author
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.jobs import relevance
from app.jobs.scheduler import Scheduler
from app.jobs.search import rebuild
from app.transaction import transaction
from tests.domain.relevance.trials.preview_shop import save_synonym, shop
from tests.fakes.clock import StoppedClock
from tests.fakes.queue import RecordingQueue
from tests.searching import request

pytestmark = pytest.mark.usefixtures("context")


def _at_once(_name: str, work) -> bool:
    work()
    return True


def test_golden_searches_are_checked_soon_after_a_change_and_not_again_before_the_next(
    indexing: SearchContext, queue: RecordingQueue, clock: StoppedClock
) -> None:
    site_id = shop(indexing)
    scheduler = Scheduler(_at_once)
    scheduler.look()
    assert _requests(queue) == [], "a shop without golden searches costs nothing"
    _add_golden(indexing, site_id)
    scheduler.look()
    scheduler.look()
    assert _requests(queue) == [("relevance:check_golden_searches", (site_id,))]
    clock.move(seconds=5)
    scheduler.look()
    assert len(_requests(queue)) == 1
    save_synonym(indexing, site_id, "mug", "cup")
    scheduler.look()
    assert len(_requests(queue)) == 2
    clock.move(hours=1)
    scheduler.look()
    assert len(_requests(queue)) == 3, "rules begin and end by the clock"


def test_a_check_that_no_worker_did_is_asked_for_again_in_seconds_until_one_did(
    indexing: SearchContext, queue: RecordingQueue, clock: StoppedClock
) -> None:
    site_id = shop(indexing)
    _add_golden(indexing, site_id)
    relevance.check_golden_searches(site_id)
    scheduler = Scheduler(_at_once)
    clock.move(seconds=1)
    scheduler.look()
    assert len(_requests(queue)) == 1, "who begins to watch does not know what that check saw"
    clock.move(seconds=10)
    scheduler.look()
    assert len(_requests(queue)) == 2, "what it shows is older than the change"
    clock.move(seconds=1)
    relevance.check_golden_searches(site_id)
    clock.move(minutes=59)
    scheduler.look()
    assert len(_requests(queue)) == 2
    clock.move(minutes=1)
    scheduler.look()
    scheduler.look()
    assert len(_requests(queue)) == 3


def test_a_search_engine_that_was_away_is_asked_again_in_seconds(
    indexing: SearchContext, queue: RecordingQueue, clock: StoppedClock
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
    indexing: SearchContext, queue: RecordingQueue, clock: StoppedClock
) -> None:
    queue.down = True
    site_id = shop(indexing)
    _add_golden(indexing, site_id)
    Scheduler(_at_once).look()
    assert golden.golden_state(site_id).passing == 1


def test_a_busy_background_is_asked_again(indexing: SearchContext, queue: RecordingQueue) -> None:
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


def test_the_job_leaves_what_is_known_while_search_is_away(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    _add_golden(indexing, site_id)
    relevance.check_golden_searches(site_id)
    indexing.engine.forget(site_id)
    relevance.check_golden_searches(site_id)
    assert golden.golden_state(site_id).passing == 1


def _add_golden(indexing: SearchContext, site_id: int) -> None:
    with transaction():
        golden.add(Author(site_id, "Mia", indexing.clock), golden.Expectation("mug", "MUG-1", 5))


def _requests(queue: RecordingQueue) -> list[tuple[str, tuple[object, ...]]]:
    return [job for job in queue.jobs if job[0] == "relevance:check_golden_searches"]


def test_the_job_that_rebuilds_holds_back_what_breaks_a_golden_search(
    indexing: SearchContext, clock: StoppedClock
) -> None:
    site_id = shop(indexing)
    with transaction():
        change_settings(site_id, {"search-golden-hold": True})
        golden.add(Author(site_id, "Mia", clock), golden.Expectation("water", "JUG-1", 1))
    with transaction():
        of_sku = update(Product).where(Product.site_id == site_id, Product.sku == "JUG-1")
        db.session.execute(of_sku.values(name="Else"), execution_options=INDEXED_SEPARATELY)
    run_id = request(indexing, site_id)
    rebuild(run_id)
    db.session.rollback()
    run = db.session.get_one(RebuildRun, run_id)
    assert run.state == "failed" and "blocked" in (run.error or "")
    with transaction():
        change_settings(site_id, {"search-golden-hold": False})
    run_id = request(indexing, site_id)
    rebuild(run_id)
    db.session.rollback()
    assert db.session.get_one(RebuildRun, run_id).state == "done"
