"""Declarations of the kinds of leased work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, TypeVar

from sqlalchemy import ColumnElement
from sqlalchemy import inspect as columns_of

from app.domain.shared.clock import Clock
from app.domain.shared.problems import DomainError
from app.domain.shared.redaction import error_summary
from app.domain.work.models import LeasedWork

W = TypeVar("W", bound=LeasedWork)


@dataclass(frozen=True, slots=True)
class WorkRequested:
    """The event that work of a kind waits. `key` is the argument of its job."""

    kind: str
    key: str | int


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
    ends the work, whoever ends it. `expected` errors are explained by the row alone; others are raised as well."""

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

    @property
    def can_expire(self) -> bool:
        """Whether work of this kind can be ended because no worker will finish it."""
        return not self.is_resumed or bool(self.waits_at_most or self.lasts_at_most)

    @property
    def key(self) -> ColumnElement[Any]:
        """The primary key of its table."""
        column: ColumnElement[Any] = columns_of(self.model).primary_key[0]
        return column
