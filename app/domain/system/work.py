"""Leased work of a site: what waits, what runs and what failed lately, by kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import func, select

from app.domain.shared.clock import Clock
from app.domain.work.kinds import WorkKind
from app.domain.work.states import State
from app.extensions import db

RECENT = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class WorkLine:
    """A kind of leased work on the System page. `failed` counts the failures within RECENT; `error` is the reason of
    the latest, at `failed_at`."""

    kind: str
    waiting: int
    running: int
    failed: int
    oldest_at: datetime | None = None
    error: str | None = None
    failed_at: datetime | None = None

    @property
    def is_quiet(self) -> bool:
        return not (self.waiting or self.running or self.failed)


def work_lines(clock: Clock, kinds: Sequence[WorkKind[Any]], site_id: int) -> Iterator[WorkLine]:
    """Yield a line for each kind of work, by one statement, and a second where something failed."""
    since = clock.now() - RECENT
    for kind in kinds:
        model = kind.model
        mine = (model.site_id == site_id, model.state != State.DONE)
        is_recent = (model.state != State.FAILED) | (model.finished_at > since)
        query = select(model.state, func.count(), func.min(model.created_at)).where(*mine, is_recent)
        by_state = {state: (number, at) for state, number, at in db.session.execute(query.group_by(model.state))}
        failed = by_state.get(State.FAILED, (0, None))[0]
        error, failed_at = _last_failure(kind, site_id) if failed else (None, None)
        waiting, oldest_at = by_state.get(State.WAITING, (0, None))
        running = by_state.get(State.RUNNING, (0, None))[0]
        yield WorkLine(kind.name, waiting, running, failed, oldest_at, error, failed_at)


def _last_failure(kind: WorkKind[Any], site_id: int) -> tuple[str | None, datetime | None]:
    model = kind.model
    query = select(model.error, model.finished_at).where(model.site_id == site_id, model.state == State.FAILED)
    row = db.session.execute(query.order_by(model.finished_at.desc()).limit(1)).first()
    return (row.error, row.finished_at) if row else (None, None)
