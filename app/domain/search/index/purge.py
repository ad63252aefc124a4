"""Removes what search keeps only for a time."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import ColumnElement, and_, delete, exists, or_
from sqlalchemy.orm import aliased

from app.domain.search.index.runs import DONE
from app.domain.search.models import UNFINISHED, JobSlot, RebuildRun, ReconcileReport
from app.domain.shared.clock import Clock
from app.extensions import db

KEEP_RUNS = timedelta(days=30)
KEEP_REPORTS = timedelta(days=90)
KEEP_SLOTS = timedelta(days=7)


def purge(clock: Clock) -> int:
    """Rebuild runs after 30 days, reconcile reports after 90, slots of scheduled jobs after a week; how many went.
    What the status tells of a site's index stays: its latest run, and its latest of each scope that was done."""
    now = clock.now()
    old = (
        delete(RebuildRun).where(
            RebuildRun.created_at < now - KEEP_RUNS, RebuildRun.state.not_in(UNFINISHED), _is_followed()
        ),
        delete(ReconcileReport).where(ReconcileReport.at < now - KEEP_REPORTS),
        delete(JobSlot).where(JobSlot.slot < now - KEEP_SLOTS),
    )
    results = [db.session.execute(statement, execution_options={"synchronize_session": False}) for statement in old]
    return sum(result.rowcount for result in results)  # type: ignore[attr-defined]


def _is_followed() -> ColumnElement[bool]:
    """Whether a later run of the site took a run's place: one of its scope that was done, or any where it failed."""
    later = aliased(RebuildRun)
    replaces = and_(later.state == DONE, later.scope == RebuildRun.scope)
    return exists().where(
        later.site_id == RebuildRun.site_id,
        later.created_at > RebuildRun.created_at,
        or_(RebuildRun.state != DONE, replaces),
    )
