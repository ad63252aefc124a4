"""Jobs and workers of the RQ queues, read in few and bounded calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime

from redis.exceptions import RedisError
from rq import Queue, Worker
from rq.exceptions import DeserializationError, NoSuchJobError
from rq.job import Job
from rq.serializers import JSONSerializer

from app.domain.shared.redaction import redacted
from app.domain.work.progress import FailedJob, QueueKind, QueueOverview, QueueWorker

MOST_WORKERS = 50
MOST_FAILED = 5  # Of each kind.
UNREADABLE = (NoSuchJobError, DeserializationError, ValueError, TypeError, KeyError, AttributeError)


def overview_of(queues: Mapping[str, Queue]) -> QueueOverview:
    """Return the overview of all queues. Raises OSError when the queue does not answer."""
    try:
        kinds = tuple(_kind(name, queue) for name, queue in queues.items())
        workers = tuple(_workers(queues))
        failed = tuple(job for queue in queues.values() for job in _failed(queue))
    except RedisError as error:
        raise OSError(str(error)) from error
    return QueueOverview(kinds, workers, failed)


def _kind(name: str, queue: Queue) -> QueueKind:
    oldest = next((job for job in map(_Fetcher(queue), queue.get_job_ids(0, 1)) if job), None)
    running, failed = queue.started_job_registry.get_job_count(), queue.failed_job_registry.get_job_count()
    return QueueKind(name, queue.count, running, failed, _aware(oldest.enqueued_at) if oldest else None)


def _workers(queues: Mapping[str, Queue]) -> Iterator[QueueWorker]:
    names = {queue.name: kind for kind, queue in queues.items()}
    keys = sorted({key for queue in queues.values() for key in Worker.all_keys(queue=queue)})
    for key in keys[:MOST_WORKERS]:
        queue = next(iter(queues.values()))
        is_alive = queue.connection.ttl(key) > 0
        worker = Worker.find_by_key(key, connection=queue.connection, serializer=JSONSerializer) if is_alive else None
        if worker is None:
            yield QueueWorker(key.rpartition(":")[2], (), is_alive=False)
            continue
        job = _Fetcher(queue)(worker.get_current_job_id() or "")
        kinds = tuple(names[name] for name in worker.queue_names() if name in names)
        began = _aware(job.started_at) if job else None
        yield QueueWorker(worker.name, kinds, is_alive=True, job=_name(job) if job else None, since=began)


def _failed(queue: Queue) -> Iterator[FailedJob]:
    """Yield the latest failed jobs of a queue, MOST_FAILED at most, the latest first."""
    latest = queue.failed_job_registry.get_job_ids(-MOST_FAILED, -1)
    for job in _found(map(_Fetcher(queue), reversed(latest))):
        result = job.latest_result()
        lines = ((result.exc_string if result else None) or "").strip().splitlines()
        error = redacted(lines[-1]) if lines else "No reason was kept."
        yield FailedJob(_name(job), _aware(job.ended_at), error)


class _Fetcher:
    """A reader of jobs by their ids; None for one that is gone or cannot be read."""

    def __init__(self, queue: Queue) -> None:
        self._queue = queue

    def __call__(self, job_id: str) -> Job | None:
        with suppress(*UNREADABLE):
            return Job.fetch(job_id, connection=self._queue.connection, serializer=JSONSerializer)
        return None


def _found(jobs: Iterable[Job | None]) -> Iterator[Job]:
    return (job for job in jobs if job is not None)


def _name(job: Job) -> str:
    """Return the name of a job as in JOBS (app/adapters/queue.py)."""
    with suppress(*UNREADABLE):
        return str(job.func_name).removeprefix("app.jobs.").replace(".", ":")
    return "unreadable"


def _aware(moment: datetime | None) -> datetime | None:
    return moment.replace(tzinfo=UTC) if moment and moment.tzinfo is None else moment
