"""The end of rebuilds that were under way when a backup was made."""

from __future__ import annotations

from sqlalchemy import NullPool, create_engine, func, update

from app.domain.search.models import RebuildRun
from app.domain.work.models import UNFINISHED, State

RESTORED = "The shop was restored from a backup that was made during this rebuild."


def end_rebuilds(database_url: str) -> None:
    """End the unfinished rebuilds in a restored database: their worker is gone, and until its lease has run out no
    other rebuild could begin. Their end is dated at their start, so that the rebuild of the lost index need not
    wait."""
    ended = func.coalesce(RebuildRun.started_at, RebuildRun.created_at)
    unfinished = update(RebuildRun).where(RebuildRun.state.in_(UNFINISHED))
    values = {"state": State.FAILED.value, "error": RESTORED, "finished_at": ended, "lease_until": None}
    with create_engine(database_url, poolclass=NullPool).begin() as connection:
        connection.execute(unfinished.values(values))
