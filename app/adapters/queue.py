"""The job queue on Redis (RQ), and the one that serves without Redis."""

from __future__ import annotations

import time
from collections.abc import Iterable

from redis import Redis
from redis.exceptions import RedisError
from rq import Queue
from rq.serializers import JSONSerializer

TIMEOUT = 0.3  # Seconds: a save may wait this long for a queue that hangs, once.
PAUSE = 5.0  # Seconds without further tries after a failure, so that saves stay quick while Redis is down.
JOB_TIMEOUT = 3600  # Seconds: the longest a job may run.
KINDS = ("default", "builds")  # Builds take minutes; apart, they do not hold up what takes a moment.
JOBS = {  # Every job, and the kind it is of.
    "indexing:apply_outbox": "default",
    "indexing:rebuild": "builds",
    "events:deliver": "default",
    "taxonomy:work_off_slice": "default",
    "suggesting:suggest": "builds",
    "trying:replay": "default",
    "trying:check_golden": "default",
    "counting:drain": "default",
}
ASKED_FOR = 15  # Seconds that a job counts as waiting in the queue if no worker begins it.


def function_of(job: str) -> str:
    return f"app.jobs.{job.replace(':', '.')}"


# What a worker may run: it would import any other name that stands in Redis just as well.
FUNCTIONS = frozenset(map(function_of, JOBS))


def queue_name(prefix: str, kind: str) -> str:
    return f"{prefix}-{kind}"


def asked_key(queue_name: str, function: str, args: Iterable[object]) -> str:
    """There while a job waits in the queue; a worker removes it before it begins. Equal jobs that are asked for
    meanwhile need not queue up behind it: it has not looked yet at what they are about."""
    return ":".join([queue_name, "asked", function, *map(str, args)])


def connect(url: str, timeout: float | None = TIMEOUT) -> Redis:
    """A connection for the queue. Jobs travel as JSON and name one of FUNCTIONS: who can write to Redis must not be
    able to run code."""
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
            if self._connection.set(asked_key(queue.name, function, args), 1, nx=True, ex=ASKED_FOR):
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


class NoQueue:
    """Nobody is woken; the scheduler's poll finds what waits."""

    def enqueue(self, job: str, *args: object) -> bool:
        return False

    def ping(self) -> None:
        raise OSError("no queue is set up: REDIS_URL is not set")
