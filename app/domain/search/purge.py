"""Removes what search keeps only for a time."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import delete

from app.domain.search.models import UNFINISHED, JobSlot, RebuildRun, ReconcileReport
from app.domain.shared.clock import Clock
from app.extensions import db

KEEP_RUNS = timedelta(days=30)
KEEP_REPORTS = timedelta(days=90)
KEEP_SLOTS = timedelta(days=7)


def purge(clock: Clock) -> int:
    """Rebuild runs after 30 days, reconcile reports after 90, slots of scheduled jobs after a week; how many went."""
    now = clock.now()
    old = (
        delete(RebuildRun).where(RebuildRun.created_at < now - KEEP_RUNS, RebuildRun.state.not_in(UNFINISHED)),
        delete(ReconcileReport).where(ReconcileReport.at < now - KEEP_REPORTS),
        delete(JobSlot).where(JobSlot.slot < now - KEEP_SLOTS),
    )
    results = [db.session.execute(statement, execution_options={"synchronize_session": False}) for statement in old]
    return sum(result.rowcount for result in results)  # type: ignore[attr-defined]
