"""Runs the jobs that wait in the queue: `python worker.py [default|builds ...]`, all kinds without a name."""

from __future__ import annotations

import signal
import sys
import threading
from types import FrameType
from typing import Any

import structlog
from flask import Flask
from redis.exceptions import RedisError
from rq import Queue, Worker
from rq.job import Job, JobStatus
from rq.serializers import JSONSerializer

from app import create_app, metrics
from app.adapters.queue import KINDS, asked_key, connect, queue_name
from app.config import Config, ConfigurationError
from app.extensions import db

SECONDS_TO_END_A_JOB = 6.0
SECONDS_BETWEEN_HEARTBEATS = 5
log = structlog.get_logger()


class ShopWorker(Worker):
    """Runs each job in a process of its own, within the application, and ends within ten seconds of SIGTERM."""

    application: Flask

    def perform_job(self, job: Job, queue: Queue) -> bool:
        with self.application.app_context(), structlog.contextvars.bound_contextvars(job=job.func_name, job_id=job.id):
            self.connection.delete(asked_key(queue.name, job.func_name, job.args))
            db.engine.dispose(close=False)  # The parent's connections must not be used by two processes.
            succeeded: bool = super().perform_job(job, queue)
            return succeeded

    def execute_job(self, job: Job, queue: Queue) -> None:
        """Counts here, since each process that counts leaves a file and jobs are many."""
        super().execute_job(job, queue)
        failed = Job.exists(job.id, self.connection) and job.get_status() == JobStatus.FAILED
        metrics.JOBS.labels(job.func_name, "failed" if failed else "done").inc()

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


def _end_the_job(_number: int, _frame: FrameType | None) -> None:
    raise SystemExit("The worker is being stopped.")


def make_worker(application: Flask, kinds: list[str]) -> ShopWorker:
    """Raises RedisError when the queue does not answer."""
    config: Config = application.config["SHOP"]
    if config.redis_url is None:
        raise RedisError("no queue is set up: set REDIS_URL, or start the shop with `make run`")
    connection = connect(config.redis_url, timeout=None)
    queues = [
        Queue(queue_name(config.queue_prefix, kind), connection=connection, serializer=JSONSerializer) for kind in kinds
    ]
    settings: dict[str, Any] = {
        "worker_ttl": 60,
        "maintenance_interval": 30,
        "job_monitoring_interval": SECONDS_BETWEEN_HEARTBEATS,
        "log_job_description": False,
    }
    worker = ShopWorker(queues, connection=connection, serializer=JSONSerializer, **settings)
    worker.application = application
    return worker


def main(kinds: list[str]) -> int:
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        print(f"There are no jobs of the kind {', '.join(unknown)}; there are {', '.join(KINDS)}.", file=sys.stderr)
        return 2
    try:
        make_worker(create_app(), kinds or list(KINDS)).work(logging_level="WARNING")
    except ConfigurationError as error:
        print(error, file=sys.stderr)
        return 1
    except RedisError as error:
        print(f"The worker cannot reach the queue: {error}.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
