"""Which kinds of jobs have a worker, as a real queue server knows it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from rq import Queue, Worker
from rq.serializers import JSONSerializer

from app.adapters.queue import KINDS, NoQueue, RqQueue, connect, queue_name


@pytest.fixture
def worker(redis_url: str) -> Iterator[Worker]:
    """Of the kind `default`, just started."""
    connection = connect(redis_url)
    queue = Queue(queue_name("of-tests", "default"), connection, serializer=JSONSerializer)
    made = Worker([queue], connection=connection, serializer=JSONSerializer)
    made.register_birth()
    yield made
    made.register_death()


def test_a_kind_without_a_worker_is_idle(redis_url: str, worker: Worker) -> None:
    assert RqQueue(redis_url, "of-tests").idle_kinds() == ["builds"]
    assert RqQueue(redis_url, "of-another-shop").idle_kinds() == ["default", "builds"]


def test_a_worker_that_gives_no_sign_any_more_is_none(redis_url: str, worker: Worker) -> None:
    worker.connection.pexpire(worker.key, 0)
    assert RqQueue(redis_url, "of-tests").idle_kinds() == ["default", "builds"]


def test_a_worker_whose_clock_is_wrong_counts_as_one(redis_url: str, worker: Worker) -> None:
    an_hour_ago = datetime.now(UTC) - timedelta(hours=1)
    worker.connection.hset(worker.key, "last_heartbeat", an_hour_ago.strftime("%Y-%m-%dT%H:%M:%S.%fZ"))
    assert RqQueue(redis_url, "of-tests").idle_kinds() == ["builds"]


def test_what_the_last_job_notes_of_a_worker_that_is_gone_makes_it_none(redis_url: str, worker: Worker) -> None:
    worker.connection.pexpire(worker.key, 0)
    worker.increment_total_working_time(timedelta(seconds=1), worker.connection)
    assert RqQueue(redis_url, "of-tests").idle_kinds() == ["default", "builds"]


def test_a_queue_that_is_away_says_so_and_one_that_is_not_set_up_has_no_workers() -> None:
    with pytest.raises(OSError):
        RqQueue("redis://127.0.0.1:1", "of-tests").idle_kinds()
    assert NoQueue().idle_kinds() is None


def test_the_overview_names_what_waits_what_failed_and_who_works(redis_url: str, worker: Worker) -> None:
    queue = RqQueue(redis_url, "of-tests")
    queue.enqueue("search:rebuild", 1)
    queue.enqueue("search_statistics:drain")
    failed = worker.queues[0].fetch_job(worker.queues[0].get_job_ids()[0])
    assert failed is not None
    worker.handle_job_failure(failed, worker.queues[0], exc_string="Traceback\nOSError: of sam@home.test: No space")
    worker.queues[0].remove(failed.id)
    found = queue.overview()
    default, builds = found.kinds
    assert (default.waiting, default.failed, default.oldest_at) == (0, 1, None)
    assert (builds.waiting, builds.oldest_at is not None and builds.oldest_at.tzinfo) == (1, UTC)
    assert [(one.kinds, one.is_alive, one.job) for one in found.workers] == [(("default",), True, None)]
    assert [(one.job, one.error) for one in found.failed] == [
        ("search_statistics:drain", "OSError: of [redacted]: No space")
    ]


def test_a_worker_that_is_gone_is_silent(redis_url: str, worker: Worker) -> None:
    worker.connection.pexpire(worker.key, 0)
    worker.increment_total_working_time(timedelta(seconds=1), worker.connection)
    assert [one.is_alive for one in RqQueue(redis_url, "of-tests").overview().workers] == [False]


def test_the_overview_of_a_queue_that_is_away_says_so() -> None:
    with pytest.raises(OSError):
        RqQueue("redis://127.0.0.1:1", "of-tests").overview()
    assert NoQueue().overview() is None


@pytest.fixture
def worker_of_left(redis_url: str) -> Iterator[Worker]:
    """Of the machine `left`: it serves its own queues and those that all share."""
    connection = connect(redis_url)
    names = [queue_name("of-tests", kind, machine) for kind in KINDS for machine in ("left", "")]
    queues = [Queue(name, connection, serializer=JSONSerializer) for name in names]
    made = Worker(queues, connection=connection, serializer=JSONSerializer)
    made.register_birth()
    yield made
    made.register_death()


def test_a_worker_of_another_machine_does_not_take_the_jobs_of_this_one(redis_url: str, worker_of_left: Worker) -> None:
    left, right = (RqQueue(redis_url, "of-tests", lambda name=name: name) for name in ("left", "right"))
    assert left.idle_kinds() == []
    assert right.idle_kinds() == ["default", "builds"]
    assert right.overview().workers[0].kinds == ("default", "builds"), "those that all share"


def test_a_job_of_a_machine_waits_in_its_own_queue(redis_url: str) -> None:
    prefix = "of-two-machines"
    left, right = (RqQueue(redis_url, prefix, lambda name=name: name) for name in ("left", "right"))
    assert right.enqueue("catalogue:prepare_picture", "upload-1", machine="left")
    assert right.enqueue("search:rebuild", "run-1")
    waiting = [[kind.waiting for kind in queue.overview().kinds] for queue in (left, right)]
    assert waiting == [[0, 2], [0, 1]]
    own = Queue(queue_name(prefix, "builds", "left"), connect(redis_url), serializer=JSONSerializer)
    assert [job.func_name for job in own.jobs] == ["app.jobs.catalogue.prepare_picture"]
