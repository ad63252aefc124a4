"""Runs the jobs that wait in the queue: `python worker.py [default|builds ...]`, all kinds without a name."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, cast

import structlog
from flask import Flask
from redis.exceptions import RedisError, ResponseError
from rq import Queue, Worker
from rq.exceptions import DeserializationError, StopRequested
from rq.job import Job, JobStatus
from rq.serializers import JSONSerializer

from app import create_app
from app.adapters.queue import FUNCTIONS, KINDS, connect, pending_key, queue_name
from app.config import Config, ConfigurationError, from_environment
from app.domain.alerts.alerts import write_unwritten
from app.extensions import db
from app.operations import metrics
from app.operations.instance import CannotStart, say_private
from app.operations.loading import loading_for_good
from app.operations.machine import admit
from app.operations.storage import note_storage_fault
from app.ports import machine_id
from app.transaction import transaction

SECONDS_TO_END_A_JOB = 6.0
SECONDS_BETWEEN_HEARTBEATS = 5
SECONDS_TO_KEEP_THE_UNREADABLE = 86_400
SECONDS_UNTIL_THERE_MAY_BE_ROOM = 2
NO_ROOM = "MISCONF"  # What the queue's server answers to every command that writes, while its disk is full.
UNREADABLE = (DeserializationError, ResponseError, ValueError, TypeError, KeyError, AttributeError)
log = structlog.get_logger()


class ShopJob(Job):
    """A job without the callbacks and web addresses that its record in Redis may name: the shop uses none."""

    success_callback = failure_callback = stopped_callback = None

    def send_webhooks(self, *_arguments: object, **_more: object) -> None:
        return


class ShopWorker(Worker):
    """Runs each job in a process of its own, within the application, and ends within ten seconds of SIGTERM.
    It runs `functions` and refuses all others."""

    application: Flask
    functions: frozenset[str]

    def dequeue_job_and_maintain_ttl(
        self, timeout: int | None, max_idle_time: int | None = None
    ) -> tuple[Job, Queue] | None:
        """A record that cannot be read is put aside, so that the jobs behind it get their turn."""
        while True:
            try:
                with self._ending_when_there_is_room():
                    result = super().dequeue_job_and_maintain_ttl(timeout, max_idle_time)
                    return cast("tuple[Job, Queue] | None", result)
            except UNREADABLE as error:
                if not hasattr(error, "job_id"):
                    raise
                self._put_aside(error.job_id, error.queue, error)  # type: ignore[attr-defined]

    def run_maintenance_tasks(self) -> None:
        with self._ending_when_there_is_room():
            super().run_maintenance_tasks()

    @contextmanager
    def _ending_when_there_is_room(self) -> Iterator[None]:
        """On a full disk no worker could be started, so this one waits for room. Then it ends, since its record in the
        queue may have expired meanwhile; whatever runs it starts another."""
        try:
            yield
        except ResponseError as error:
            if NO_ROOM not in str(error):
                raise
            log.error("queue_has_no_room", error=str(error))
            while not (self._stop_requested or self._has_room()):
                time.sleep(SECONDS_UNTIL_THERE_MAY_BE_ROOM)
            raise StopRequested from None

    def _has_room(self) -> bool:
        try:
            self.heartbeat()
        except ResponseError:
            return False
        return True

    def _put_aside(self, job_id: str, queue: Queue, error: Exception) -> None:
        log.error("job_unreadable", job_id=job_id, error=repr(error))
        aside = f"{queue.key}:unreadable:{job_id}"
        with suppress(ResponseError):  # What is no name of a job has no record either.
            self.connection.rename(Job.key_for(job_id), aside)
            self.connection.expire(aside, SECONDS_TO_KEEP_THE_UNREADABLE)
        queue.intermediate_queue.remove(job_id)

    def perform_job(self, job: Job, queue: Queue) -> bool:
        with self.application.app_context(), structlog.contextvars.bound_contextvars(job=job.func_name, job_id=job.id):
            self.connection.delete(pending_key(queue.name, job.func_name, job.args))
            db.engine.dispose(close=False)  # The parent's connections must not be used by two processes.
            try:
                return cast("bool", super().perform_job(job, queue))
            finally:
                write_unwritten(transaction)  # The memory of this process, which holds them, ends with the job.

    def execute_job(self, job: Job, queue: Queue) -> None:
        """Counts here, since each process that counts leaves a file and jobs are many."""
        if reason := _why_refused(job, self.functions):
            self._refuse(job, queue, reason)
            return
        with self._ending_when_there_is_room():
            super().execute_job(job, queue)
        failed = Job.exists(job.id, self.connection) and job.get_status() == JobStatus.FAILED
        metrics.JOBS.labels(job.func_name, "failed" if failed else "done").inc()

    def handle_exception(self, job: Job, *exc_info: Any) -> None:
        """Without RQ's own line, which names what the job was given and quotes the database's errors."""
        if not note_storage_fault(exc_info[1]):
            log.error("job_failed", exc_info=exc_info)

    def _refuse(self, job: Job, queue: Queue, reason: str) -> None:
        log.error("job_refused", job_id=job.id, reason=reason)
        job.retries_left = None
        self.handle_job_failure(job, queue, exc_string=reason)
        queue.intermediate_queue.remove(job.id)
        metrics.JOBS.labels("none of the shop's", "failed").inc()

    def setup_work_horse_signals(self) -> None:
        """A job that is told to end gets the chance to clear up behind it."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, _end_the_job)

    def handle_warm_shutdown_request(self) -> None:
        if self.horse_pid:
            self.kill_horse(signal.SIGTERM)
            deadline = threading.Timer(SECONDS_TO_END_A_JOB, self.kill_horse)
            deadline.daemon = True
            deadline.start()


def _why_refused(job: Job, functions: frozenset[str]) -> str | None:
    try:
        name, instance = job.func_name, job.instance
    except DeserializationError:
        return "The job cannot be read."
    if instance is None and isinstance(name, str) and name in functions:
        return None
    return f"The shop has no job {str(name)[:100]!r}."


def _end_the_job(_number: int, _frame: FrameType | None) -> None:
    raise SystemExit("The worker is being stopped.")


def make_worker(application: Flask, kinds: list[str], functions: frozenset[str] = FUNCTIONS) -> ShopWorker:
    """Raises RedisError when the queue does not answer."""
    config: Config = application.config["SHOP"]
    if config.redis_url is None:
        raise RedisError("no queue is set up: set REDIS_URL, or start the shop with `make run`")
    connection = connect(config.redis_url, timeout=None)
    with application.app_context():
        machines = dict.fromkeys((machine_id(), ""))  # Its own jobs first: no other worker takes them.
    names = [queue_name(config.queue_prefix, kind, machine) for kind in kinds for machine in machines]
    queues = [Queue(name, connection, job_class=ShopJob, serializer=JSONSerializer) for name in names]
    settings: dict[str, Any] = {
        "worker_ttl": 60,
        "maintenance_interval": 30,
        "job_monitoring_interval": SECONDS_BETWEEN_HEARTBEATS,
        "log_job_description": False,
    }
    worker = ShopWorker(queues, connection=connection, job_class=ShopJob, serializer=JSONSerializer, **settings)
    worker.application, worker.functions = application, functions
    return worker


def main(kinds: list[str], functions: frozenset[str] = FUNCTIONS) -> int:
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        print(f"There are no jobs of the kind {', '.join(unknown)}; there are {', '.join(KINDS)}.", file=sys.stderr)
        return 2
    try:
        config = from_environment()
        say_private(config)
        metrics.reserve_room()
        with loading_for_good():
            application = create_app(config, surfaces=False)
        with application.app_context():
            admit()
        make_worker(application, kinds or list(KINDS), functions).work(logging_level="WARNING")
    except (CannotStart, ConfigurationError) as error:
        print(error, file=sys.stderr)
        return 1
    except RedisError as error:
        print(f"The worker cannot reach the queue: {error}.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
