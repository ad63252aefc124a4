"""THE table: event -> what happens after its commit."""

from __future__ import annotations

from app.domain.search.events import IndexChangesWaiting, RebuildRequested
from app.events import subscribe
from app.ports import queue


def init_subscribers() -> None:
    subscribe(IndexChangesWaiting, lambda event: _wake("indexing:apply_outbox", event.site_id))
    subscribe(RebuildRequested, lambda event: _wake("indexing:rebuild", event.run_id))


def _wake(job: str, *args: object) -> None:
    """A lost wake-up is made up for by the scheduler's poll."""
    queue().enqueue(job, *args)
