"""Overview of a queue: its jobs and its workers. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class QueueKind:
    """A queue of one kind of jobs. `oldest_at` is when the job was enqueued that waits longest."""

    name: str
    waiting: int
    running: int
    failed: int
    oldest_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class QueueWorker:
    """A worker of the queue. `job` is what it does now, None while it waits. `is_alive`: it gave a sign lately."""

    name: str
    kinds: tuple[str, ...]
    is_alive: bool
    job: str | None = None
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class FailedJob:
    """A job that failed. `error` is the last line of what went wrong."""

    job: str
    at: datetime | None
    error: str


@dataclass(frozen=True, slots=True)
class QueueOverview:
    kinds: tuple[QueueKind, ...]
    workers: tuple[QueueWorker, ...]
    failed: tuple[FailedJob, ...] = ()
