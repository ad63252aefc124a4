"""The progress of background work, as pages show it: pieces of leased work, and the queue with its jobs and workers.
Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.domain.work.models import UNFINISHED, State


@dataclass(frozen=True, slots=True)
class WorkSummary:
    """The progress of one piece of leased work. `is_unanswered`: no worker claims it."""

    id: str
    state: str
    done: int
    total: int | None
    error: str | None
    requested_by: str
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    is_unanswered: bool

    @staticmethod
    def fields_of(row: Any, is_unanswered: bool) -> dict[str, Any]:
        """Return the fields that all summaries of work have in common, read from a row."""
        names = "state", "done", "total", "error", "requested_by", "created_at", "started_at", "finished_at"
        key = str(getattr(row, "id", row.site_id))
        return {name: getattr(row, name) for name in names} | {"id": key, "is_unanswered": is_unanswered}

    @property
    def is_waiting(self) -> bool:
        return self.state == State.WAITING

    @property
    def is_unfinished(self) -> bool:
        return self.state in UNFINISHED

    @property
    def is_done(self) -> bool:
        return self.state == State.DONE

    @property
    def has_failed(self) -> bool:
        return self.state == State.FAILED


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
