"""The job queue on Redis (RQ), and the one that serves without Redis."""

from __future__ import annotations

import time
from collections.abc import Iterable

from redis import Redis
from redis.exceptions import RedisError
from rq import Queue, Worker
from rq.serializers import JSONSerializer

from app.adapters.queue_overview import overview_of
from app.domain.work.queue_overview import QueueOverview

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
    "relevance:suggest_synonyms": "builds",
    "catalogue:work_off_tasks": "default",
    "catalogue:prepare_picture": "builds",
    "catalogue:run_bundle": "builds",
    "orders:send_mail": "default",
    "pos:check_payments": "default",
    "pos:deliver_simulated_events": "default",
    "pos:reconcile": "builds",
    "pos:send_receipt": "default",
    "seo:build_sitemap": "builds",
    "seo:check_site": "builds",
    "scheduled:look": "builds",
}
PENDING_SECONDS = 15  # How long a job counts as pending if no worker begins it.


def function_of(job: str) -> str:
    return f"app.jobs.{job.replace(':', '.')}"


# Allow list of a worker, which would import any other name in Redis just as well.
FUNCTIONS = frozenset(map(function_of, JOBS))


def queue_name(prefix: str, kind: str) -> str:
    return f"{prefix}-{kind}"


def pending_key(queue_name: str, function: str, args: Iterable[object]) -> str:
    """Return the Redis key that exists while a job is queued; a worker removes it before it begins. Equal jobs need not
    queue up behind a pending one, which has not read its data yet."""
    return ":".join([queue_name, "pending", function, *map(str, args)])


def connect(url: str, timeout: float | None = TIMEOUT) -> Redis:
    """Return a connection to Redis for the queue. Jobs are JSON and name one of FUNCTIONS: a program that can write to
    Redis must not be able to run code."""
    return Redis.from_url(url, socket_connect_timeout=timeout, socket_timeout=timeout)


class RqQueue:
    def __init__(self, url: str, prefix: str) -> None:
        self._connection = connect(url)
        self._queues = {
            kind: Queue(queue_name(prefix, kind), connection=self._connection, serializer=JSONSerializer)
            for kind in KINDS
        }
        self._resting_until = 0.0

    def enqueue(self, job: str, *args: object) -> bool:
        if time.monotonic() < self._resting_until:
            return False
        queue, function = self._queues[JOBS[job]], function_of(job)
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
        return overview_of(self._queues)

    def idle_kinds(self) -> list[str] | None:
        try:
            return [kind for kind, queue in self._queues.items() if not _has_worker(queue)]
        except RedisError as error:
            raise OSError(str(error)) from error


def _has_worker(queue: Queue) -> bool:
    """Whether a worker of the queue lives. Its heartbeats renew the time to live of its record, which Redis measures,
    since the clocks of machines may differ. A record without one was left by the last job of a worker that is gone."""
    return any(queue.connection.ttl(key) > 0 for key in Worker.all_keys(queue=queue))


class NoQueue:
    """The queue of a shop without Redis, which wakes no worker; the scheduler's poll finds what is pending."""

    def enqueue(self, job: str, *args: object) -> bool:
        return False

    def overview(self) -> QueueOverview | None:
        return None

    def idle_kinds(self) -> list[str] | None:
        return None

    def ping(self) -> None:
        raise OSError("no queue is set up: REDIS_URL is not set")
