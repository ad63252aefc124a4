"""Removes tasks that ended long ago. What they did and what products lost stays in the activity log."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import delete

from app.domain.shared.clock import Clock
from app.domain.taxonomy.models import TaxonomyTask
from app.domain.taxonomy.task_kinds import UNFINISHED
from app.extensions import db

KEEP_TASKS = timedelta(days=30)


def purge(clock: Clock) -> int:
    """Tasks 30 days after they ended; how many went."""
    ended = TaxonomyTask.state.not_in(UNFINISHED), TaxonomyTask.finished_at < clock.now() - KEEP_TASKS
    statement = delete(TaxonomyTask).where(*ended)
    result = db.session.execute(statement, execution_options={"synchronize_session": False})
    return result.rowcount  # type: ignore[attr-defined,no-any-return]
