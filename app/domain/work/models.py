"""Leased work: its states, the columns of its tables, and the declarations of its kinds."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, ClassVar, Generic, TypeVar

from sqlalchemy import CheckConstraint, ColumnElement, ForeignKey, String, Text, true
from sqlalchemy import inspect as columns_of
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.shared.author import Author
from app.domain.shared.clock import Clock, rfc3339
from app.domain.shared.problems import DomainError
from app.domain.shared.records import UtcDateTime
from app.domain.shared.redaction import error_summary


class State(StrEnum):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


UNFINISHED = (State.WAITING, State.RUNNING)


def state_known() -> CheckConstraint:
    """Return the constraint that every table of leased work has."""
    return CheckConstraint("state in ('waiting', 'running', 'done', 'failed')", name="state_known")


def requested_now(author: Author) -> dict[str, Any]:
    """Return the columns of work that an author requests."""
    return {
        "id": str(uuid.uuid4()),
        "site_id": author.site_id,
        "state": State.WAITING.value,
        "done": 0,
        "requested_by": author.name[:100],
        "created_at": author.now(),
    }


class LeasedWork:
    """Work that one worker at a time claims. `lease_until` is when its lease runs out unless the worker renews it;
    `fence` rises with every claim, so that a worker whose lease ran out can write nothing once another has claimed the
    work. `attempts` counts the claims since it was requested; `done` of `total` is its progress, in units of its kind.
    `queue` is where its job waits, perhaps behind work of other kinds."""

    queue: ClassVar[str] = "default"

    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"))
    state: Mapped[str] = mapped_column(String(16), default=State.WAITING.value)
    requested_by: Mapped[str] = mapped_column(String(100))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    started_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    finished_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    lease_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    fence: Mapped[int] = mapped_column(default=0)
    attempts: Mapped[int] = mapped_column(default=0)
    done: Mapped[int] = mapped_column(default=0)
    total: Mapped[int | None]
    error: Mapped[str | None] = mapped_column(Text)

    @property
    def is_unfinished(self) -> bool:
        return self.state in UNFINISHED

    @property
    def has_failed(self) -> bool:
        return self.state == State.FAILED

    def state_json(self) -> dict[str, Any]:
        """Return the state of the work, who requested it and when, as JSON."""
        return {
            "state": self.state,
            "outcome": None if self.is_unfinished else self.state,
            "error": self.error,
            "requestedBy": self.requested_by,
            "createdAt": rfc3339(self.created_at),
            "startedAt": self.started_at and rfc3339(self.started_at),
            "finishedAt": self.finished_at and rfc3339(self.finished_at),
        }


class OfMachine:
    """Columns of leased work whose files are on the disk of a machine. `machine` is its id, empty for work that has
    none yet: the machine whose worker begins it keeps it."""

    machine: Mapped[str] = mapped_column(String(36), default="", server_default="")


W = TypeVar("W", bound=LeasedWork)


@dataclass(frozen=True, slots=True)
class WorkRequested:
    """The event that work of a kind waits, on a machine where it names one. `key` is the argument of its job."""

    kind: str
    key: str | int
    machine: str = ""


def describe_error(error: BaseException) -> str:
    """Return the reason of a failure, for the people who requested the work; it may be mailed as an alert."""
    if isinstance(error, DomainError):
        return error.message
    return f"Something unexpected went wrong: {error_summary(error)}"


def _nothing(_clock: Clock, _row: Any) -> None: ...


@dataclass(frozen=True, slots=True)
class WorkKind(Generic[W]):
    """A kind of leased work. `is_resumed`: what an interrupted worker left is claimed by the next; otherwise it fails,
    with `abandoned` as the error. With `most_attempts` claims it fails with `exhausted`. `waits_at_most` and
    `lasts_at_most` count from the request; after them it fails with `overdue`. `on_end` runs in the transaction that
    ends the work, whoever ends it. `expected` errors are explained by the row alone; others are raised as well.
    `outages` are errors of what the work needs and will have again: then it waits, and the attempt is not counted."""

    name: str
    model: type[W]
    lease: timedelta
    kept: timedelta | None = None
    is_resumed: bool = True
    most_attempts: int | None = None
    waits_at_most: timedelta | None = None
    lasts_at_most: timedelta | None = None
    abandoned: str = ""
    exhausted: str = ""
    overdue: str = ""
    on_end: Callable[[Clock, W], None] = _nothing
    describe_error: Callable[[BaseException], str] = describe_error
    expected: tuple[type[BaseException], ...] = (DomainError,)
    outages: tuple[type[BaseException], ...] = ()

    @property
    def can_expire(self) -> bool:
        """Whether work of this kind can be ended because no worker will finish it."""
        return not self.is_resumed or bool(self.waits_at_most or self.lasts_at_most)

    @property
    def is_of_machine(self) -> bool:
        """Whether work of this kind may need the disk of the machine that it names."""
        return issubclass(self.model, OfMachine)

    def may_run_on(self, machine: str) -> ColumnElement[bool]:
        """Return the condition of the work that this machine may do."""
        return self.model.machine.in_(("", machine)) if issubclass(self.model, OfMachine) else true()

    @property
    def key(self) -> ColumnElement[Any]:
        """The primary key of its table."""
        column: ColumnElement[Any] = columns_of(self.model).primary_key[0]
        return column
