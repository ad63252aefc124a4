"""The worker runs what is queued for its shop, and ends in time."""

import time
from collections.abc import Iterator
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest
from redis import Redis
from rq import Queue
from rq.job import Job
from rq.serializers import JSONSerializer
from rq.utils import import_attribute

import worker as program
from app.adapters.queue import FUNCTIONS, RqQueue, queue_name
from app.config import Config
from tests.forks import fork
from tests.processes import plain_environment
from tests.waiting import until

FOR_TESTS = frozenset({"math.sqrt", "time.sleep"})  # Jobs that need no database, besides the shop's own.


class Worker:
    """A worker of the shop whose database lies in `folder`."""

    def __init__(self, folder: Path, redis_url: str, *kinds: str) -> None:
        self.database = f"sqlite:///{folder / 'shop.db'}"
        self.process = start(folder, [*kinds], {"REDIS_URL": redis_url, "DATABASE_URL": self.database})

    def stop(self) -> int | None:
        self.process.terminate()
        self.process.join(10)
        return self.process.exitcode


def start(folder: Path, arguments: list[str], environment: dict[str, str]) -> BaseProcess:
    """`worker.py`, which says why it ends in the file `errors`."""
    surroundings = plain_environment() | environment
    functions = FUNCTIONS | FOR_TESTS
    outputs = {"output": folder / "said", "errors": folder / "errors"}
    return fork(program.main, arguments, functions, folder=folder, environment=surroundings, **outputs)


@pytest.fixture
def connection(redis_url: str) -> Iterator[Redis]:
    with Redis.from_url(redis_url) as opened:
        yield opened


def prefix_of(database: str) -> str:
    return Config(database_url=database).queue_prefix


def queue_of(worker: Worker, kind: str, connection: Redis) -> Queue:
    return Queue(queue_name(prefix_of(worker.database), kind), connection=connection, serializer=JSONSerializer)


@pytest.fixture
def worker(tmp_path: Path, redis_url: str) -> Iterator[Worker]:
    started = Worker(tmp_path, redis_url, "default")
    yield started
    started.process.kill()
    started.process.join()


def status(job: Job) -> str:
    return job.get_status(refresh=True).value


def test_a_job_is_run(worker: Worker, connection: Redis) -> None:
    job = queue_of(worker, "default", connection).enqueue("math.sqrt", 9)
    until(lambda: status(job) == "finished")
    assert job.return_value() == 3.0


def test_a_running_job_does_not_keep_the_worker_from_stopping(worker: Worker, connection: Redis) -> None:
    job = queue_of(worker, "default", connection).enqueue("time.sleep", 600)
    until(lambda: status(job) == "started")
    assert worker.stop() == 0
    assert status(job) == "failed"


def test_only_jobs_of_the_shop_are_run(worker: Worker, connection: Redis, tmp_path: Path) -> None:
    waiting = queue_of(worker, "default", connection)
    planted = waiting.enqueue("os.mkdir", str(tmp_path / "planted"))
    method = waiting.create_job("math.sqrt", args=(9,))
    method.instance = "text"
    waiting.enqueue_job(method)
    called = waiting.create_job("math.sqrt", args=(-1,))
    called._failure_callback_name = "os.abort"
    waiting.enqueue_job(called)
    until(lambda: status(called) == "failed")
    assert (status(planted), status(method)) == ("failed", "failed")
    assert not (tmp_path / "planted").exists()
    assert "no job 'os.mkdir'" in planted.latest_result().exc_string
    assert "math domain error" in called.latest_result().exc_string


@pytest.mark.parametrize("field", ["data", "created_at"])
def test_a_job_that_cannot_be_read_holds_up_no_other(worker: Worker, connection: Redis, field: str) -> None:
    waiting = queue_of(worker, "default", connection)
    broken = waiting.create_job("math.sqrt", args=(9,))
    broken.save()
    connection.hset(broken.key, field, b"\xff\xfe garbage")
    connection.rpush(waiting.key, broken.id)
    job = waiting.enqueue("math.sqrt", 9)
    until(lambda: status(job) == "finished")
    assert connection.llen(f"{waiting.key}:intermediate") == 0


def test_every_job_of_the_shop_is_there() -> None:
    assert all(callable(import_attribute(name)) for name in FUNCTIONS)


def test_an_idle_worker_stops(worker: Worker, connection: Redis) -> None:
    job = queue_of(worker, "default", connection).enqueue("math.sqrt", 9)
    until(lambda: status(job) == "finished")
    assert worker.stop() == 0


def test_builds_wait_for_their_own_worker(worker: Worker, connection: Redis, tmp_path: Path, redis_url: str) -> None:
    build = queue_of(worker, "builds", connection).enqueue("math.sqrt", 9)
    quick = queue_of(worker, "default", connection).enqueue("math.sqrt", 9)
    until(lambda: status(quick) == "finished")
    assert status(build) == "queued"
    builder = Worker(tmp_path, redis_url, "builds")
    until(lambda: status(build) == "finished")
    assert builder.stop() == 0


def test_the_job_of_another_shop_is_left_alone(worker: Worker, connection: Redis, redis_url: str) -> None:
    other = RqQueue(redis_url, prefix_of("sqlite:///other.db"))
    assert other.enqueue("search:apply_outbox", 1)
    mine = queue_of(worker, "default", connection).enqueue("math.sqrt", 9)
    until(lambda: status(mine) == "finished")
    assert connection.llen(f"rq:queue:{queue_name(prefix_of('sqlite:///other.db'), 'default')}") == 1


def test_equal_jobs_queue_up_once_until_one_of_them_begins(
    worker: Worker, connection: Redis, tmp_path: Path, redis_url: str
) -> None:
    shop = RqQueue(redis_url, prefix_of(worker.database))
    waiting = queue_of(worker, "builds", connection)
    for run in ("a", "a", "b", "a"):
        assert shop.enqueue("search:rebuild", run)
    assert waiting.count == 2
    builder = Worker(tmp_path, redis_url, "builds")
    until(lambda: waiting.count == 0)
    assert builder.stop() == 0
    assert shop.enqueue("search:rebuild", "a")
    assert waiting.count == 1


@pytest.mark.parametrize(
    ("arguments", "environment", "words", "exit_status"),
    [
        (["nonsense"], {}, "no jobs of the kind nonsense", 2),
        ([], {}, "set REDIS_URL", 1),
        ([], {"REDIS_URL": "unix:///nowhere/redis.sock"}, "cannot reach the queue", 1),
    ],
)
def test_what_keeps_a_worker_from_starting_is_said(
    tmp_path: Path, arguments: list[str], environment: dict[str, str], words: str, exit_status: int
) -> None:
    started = start(tmp_path, arguments, environment)
    started.join(30)
    assert started.exitcode == exit_status
    said = (tmp_path / "errors").read_text()
    assert words in said
    assert "Traceback" not in said


def test_a_queue_that_is_down_is_noticed_quickly(tmp_path: Path) -> None:
    queue = RqQueue(f"unix://{tmp_path}/nowhere.sock", "shop-x")
    before = time.monotonic()
    assert not queue.enqueue("search:apply_outbox", 1)
    assert time.monotonic() - before < 0.5
    with pytest.raises(OSError):
        queue.ping()
