"""Unfinished work after the clock was set: it is dated as if the clock had always said what it says now, so that no
lease runs out and no work has waited too long, by an hour that never passed."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import select

from app.domain.work.kinds import W, WorkKind
from app.domain.work.states import UNFINISHED
from app.extensions import db


def redate(kind: WorkKind[W], before: datetime, now: datetime) -> None:
    """Shift unfinished work after the clock was set from `before`, the time that it would show otherwise, to `now`.
    Times that were noted since then stay. Call it in a transaction."""
    unfinished = select(kind.model).where(kind.model.state.in_(UNFINISHED)).with_for_update()
    for row in db.session.scalars(unfinished.execution_options(populate_existing=True)):
        if _is_of_before(row.created_at, before, now):
            row.created_at += now - before
        if row.started_at and _is_of_before(row.started_at, before, now):
            row.started_at += now - before
        if row.lease_until and before < row.lease_until <= before + kind.lease:
            row.lease_until += now - before


def _is_of_before(moment: datetime, before: datetime, now: datetime) -> bool:
    return moment <= before if now > before else moment > now
