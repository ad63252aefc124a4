"""The job queue on Redis (RQ) with the overview of its jobs and workers, and the queue that serves without Redis."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime

from redis import Redis
from redis.exceptions import RedisError
from rq import Queue, Worker
from rq.exceptions import DeserializationError, NoSuchJobError
from rq.job import Job
from rq.serializers import JSONSerializer

from app.domain.shared.redaction import redacted
from app.domain.work.progress import FailedJob, QueueKind, QueueOverview, QueueWorker

TIMEOUT = 0.3  # Seconds: a save may wait this long for a queue that hangs, once.
PAUSE = 5.0  # Seconds without further tries after a failure, so that saves stay quick while Redis is down.
JOB_TIMEOUT = 3600  # Seconds: the longest a job may run.
KINDS = ("default", "builds")  # Builds take minutes; apart, they do not hold up what takes a moment.
JOBS = {  # Every job and its queue.
    "search:apply_outbox": "default",
    "search:rebuild": "builds",
    "search_statistics:drain": "default",
    "events:deliver": "default",
    "relevance:check_golden_searches": "default",
    "relevance:learn": "default",
    "relevance:replay": "default",
    "relevance:judge": "builds",
    "relevance:suggest_synonyms": "builds",
    "catalogue:work_off_tasks": "default",
    "catalogue:prepare_picture": "builds",
    "catalogue:run_bundle": "builds",
    "accounts:send_mail": "default",
    "backups:make": "builds",
    "orders:send_mail": "default",
    "pos:check_payments": "default",
    "pos:deliver_simulated_events": "default",
    "pos:reconcile": "builds",
    "pos:send_journal_mail": "default",
    "pos:send_receipt": "default",
    "seo:build_sitemap": "builds",
    "seo:check_site": "builds",
    "scheduled:look": "builds",
}
PENDING_SECONDS = 15  # How long a job counts as pending if no worker begins it.
MOST_WORKERS = 50
MOST_FAILED = 5  # Of each kind.
UNREADABLE = (NoSuchJobError, DeserializationError, ValueError, TypeError, KeyError, AttributeError)


def function_of(job: str) -> str:
    return f"app.jobs.{job.replace(':', '.')}"


# Allow list of a worker, which would import any other name in Redis just as well.
FUNCTIONS = frozenset(map(function_of, JOBS))


def queue_name(prefix: str, kind: str, machine: str = "") -> str:
    """Return the name of the queue of a kind that the workers of all machines share or, with its id, of a machine's
    own, for jobs that need what lies on its disk."""
    return f"{prefix}-{kind}-{machine}" if machine else f"{prefix}-{kind}"


def pending_key(queue_name: str, function: str, args: Iterable[object]) -> str:
    """Return the Redis key that exists while a job is queued; a worker removes it before it begins. Equal jobs need not
    queue up behind a pending one, which has not read its data yet."""
    return ":".join([queue_name, "pending", function, *map(str, args)])


def connect(url: str, timeout: float | None = TIMEOUT) -> Redis:
    """Return a connection to Redis for the queue. Jobs are JSON and name one of FUNCTIONS: a program that can write to
    Redis must not be able to run code."""
    return Redis.from_url(url, socket_connect_timeout=timeout, socket_timeout=timeout)


class RqQueue:
    """The queue as the machine sees it whose id `machine` returns: the queues that all share and its own."""

    def __init__(self, url: str, prefix: str, machine: Callable[[], str] = lambda: "") -> None:
        self._connection = connect(url)
        self._prefix, self._machine = prefix, machine
        self._resting_until = 0.0

    def enqueue(self, job: str, *args: object, machine: str = "") -> bool:
        if time.monotonic() < self._resting_until:
            return False
        queue, function = self._queue(JOBS[job], machine), function_of(job)
        try:
            if self._connection.set(pending_key(queue.name, function, args), 1, nx=True, ex=PENDING_SECONDS):
                queue.enqueue_call(function, args=args, timeout=JOB_TIMEOUT, result_ttl=0, failure_ttl=86_400)
        except (RedisError, OSError):
            self._resting_until = time.monotonic() + PAUSE
            return False
        return True

    def ping(self) -> None:
        try:
            self._connection.ping()
        except RedisError as error:
            raise OSError(str(error)) from error

    def overview(self) -> QueueOverview:
        try:
            by_kind = {kind: self._queues_of(kind) for kind in KINDS}
            kinds = tuple(_overview_of_kind(kind, queues) for kind, queues in by_kind.items())
            named = {queue.name: kind for kind, queues in by_kind.items() for queue in queues}
            workers = tuple(_overview_of_workers(by_kind[KINDS[0]][0], named))
            failed = tuple(job for queues in by_kind.values() for job in _failed_jobs(queues))
        except RedisError as error:
            raise OSError(str(error)) from error
        return QueueOverview(kinds, workers, failed)

    def idle_kinds(self) -> list[str] | None:
        try:
            return [kind for kind in KINDS if not _has_worker(self._queues_of(kind)[-1])]
        except RedisError as error:
            raise OSError(str(error)) from error

    def _queues_of(self, kind: str) -> list[Queue]:
        """Return the shared queue of a kind and that of this machine, which its workers serve both."""
        return [self._queue(kind, machine) for machine in dict.fromkeys(("", self._machine()))]

    def _queue(self, kind: str, machine: str) -> Queue:
        name = queue_name(self._prefix, kind, machine)
        return Queue(name, connection=self._connection, serializer=JSONSerializer)


def _has_worker(queue: Queue) -> bool:
    """Whether a worker of the queue lives. Its heartbeats renew the time to live of its record, which Redis measures,
    since the clocks of machines may differ. A record without one was left by the last job of a worker that is gone."""
    return any(queue.connection.ttl(key) > 0 for key in Worker.all_keys(queue=queue))


def _overview_of_kind(name: str, queues: Sequence[Queue]) -> QueueKind:
    firsts = [job for queue in queues for job_id in queue.get_job_ids(0, 1) if (job := _job(queue, job_id))]
    oldest = min((at for job in firsts if (at := _aware(job.enqueued_at))), default=None)
    running = sum(queue.started_job_registry.get_job_count() for queue in queues)
    failed = sum(queue.failed_job_registry.get_job_count() for queue in queues)
    return QueueKind(name, sum(queue.count for queue in queues), running, failed, oldest)


def _overview_of_workers(queue: Queue, named: Mapping[str, str]) -> Iterator[QueueWorker]:
    """Yield the workers of all machines. `named` are the kinds of queues by their names."""
    names = [Queue(name, connection=queue.connection) for name in named]
    keys = sorted({key for each in names for key in Worker.all_keys(queue=each)})
    for key in keys[:MOST_WORKERS]:
        is_alive = queue.connection.ttl(key) > 0
        worker = Worker.find_by_key(key, connection=queue.connection, serializer=JSONSerializer) if is_alive else None
        if worker is None:
            yield QueueWorker(key.rpartition(":")[2], (), is_alive=False)
            continue
        job = _job(queue, worker.get_current_job_id() or "")
        kinds = tuple(dict.fromkeys(named[name] for name in worker.queue_names() if name in named))
        began = _aware(job.started_at) if job else None
        yield QueueWorker(worker.name, kinds, is_alive=True, job=_job_name(job) if job else None, since=began)


def _failed_jobs(queues: Sequence[Queue]) -> Iterator[FailedJob]:
    """Yield the latest failed jobs of the queues of a kind, MOST_FAILED of each at most, the latest first."""
    latest = [
        (queue, job_id)
        for queue in queues
        for job_id in reversed(queue.failed_job_registry.get_job_ids(-MOST_FAILED, -1))
    ]
    for job in filter(None, (_job(queue, job_id) for queue, job_id in latest)):
        result = job.latest_result()
        lines = ((result.exc_string if result else None) or "").strip().splitlines()
        error = redacted(lines[-1]) if lines else "No reason was kept."
        yield FailedJob(_job_name(job), _aware(job.ended_at), error)


def _job(queue: Queue, job_id: str) -> Job | None:
    """Return a job; None for one that is gone or cannot be read."""
    with suppress(*UNREADABLE):
        return Job.fetch(job_id, connection=queue.connection, serializer=JSONSerializer)
    return None


def _job_name(job: Job) -> str:
    """Return the name of a job as in JOBS."""
    with suppress(*UNREADABLE):
        return str(job.func_name).removeprefix("app.jobs.").replace(".", ":")
    return "unreadable"


def _aware(moment: datetime | None) -> datetime | None:
    return moment.replace(tzinfo=UTC) if moment and moment.tzinfo is None else moment


class NoQueue:
    """The queue of a shop without Redis, which wakes no worker; the scheduler's poll finds what is pending."""

    def enqueue(self, job: str, *args: object, machine: str = "") -> bool:
        return False

    def overview(self) -> QueueOverview | None:
        return None

    def idle_kinds(self) -> list[str] | None:
        return None

    def ping(self) -> None:
        raise OSError("no queue is set up: REDIS_URL is not set")
