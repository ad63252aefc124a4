"""A large import of one site holds up neither the other jobs nor the saves of other sites."""

from __future__ import annotations

import pytest

from app.domain.search.engine import SearchContext
from app.domain.search.index import outbox
from app.domain.search.index.outbox import TURN
from app.domain.search.index.rebuild import rebuild
from app.domain.search.models import OutboxEntry
from app.extensions import db
from app.jobs import indexing as jobs
from app.jobs.scheduler import LOOKS_BEFORE_HELP, Scheduler
from app.transaction import transaction
from tests.fakes.clock import StoppedClock
from tests.fakes.queue import RecordingQueue
from tests.searching import add_product, add_site, request

pytestmark = pytest.mark.usefixtures("context")


class BusyClock(StoppedClock):
    """The clock of a machine on which each batch lasts as long as a turn."""

    def monotonic(self) -> float:
        self._passed += TURN
        return self._passed


@pytest.fixture
def clock() -> BusyClock:
    return BusyClock()


@pytest.fixture
def site_id(indexing: SearchContext, queue: RecordingQueue) -> int:
    """A site for which three batches wait."""
    with transaction():
        site_id = add_site().id
        add_product(site_id, "tent")
    rebuild(indexing, request(indexing, site_id))
    with transaction():
        db.session.add_all(
            OutboxEntry(site_id=site_id, kind="product", record_id=100_000 + number, attempts=0)
            for number in range(3 * outbox.AT_ONCE)
        )
    queue.jobs.clear()
    return site_id


def test_what_a_turn_leaves_is_queued_behind_what_waits_there(queue: RecordingQueue, site_id: int) -> None:
    assert not jobs.apply_outbox(site_id)
    assert queue.jobs == [("indexing:apply_outbox", (site_id,))]
    assert outbox.count(site_id) == (2 * outbox.AT_ONCE, 0)


def test_without_a_queue_the_scheduler_goes_on_at_each_look(queue: RecordingQueue, site_id: int) -> None:
    queue.down = True
    scheduler = Scheduler(lambda _name, _work: False)
    for _ in range(LOOKS_BEFORE_HELP + 3):
        scheduler.look()
    assert outbox.count(site_id) == (0, 0)
