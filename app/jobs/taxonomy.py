"""Work on many products that follows from the taxonomy."""

from __future__ import annotations

from datetime import timedelta

from app.domain.taxonomy.tasks.queue import TASK
from app.domain.taxonomy.tasks.runner import work_off
from app.domain.work.models import WorkRequested
from app.events import dispatch
from app.operations.work_context import work_context

SLICE = timedelta(seconds=3)  # Then other jobs get their turn: a save waits no longer than that to be found.


def work_off_slice(site_id: int) -> None:
    """Work on a site's tasks for SLICE, and request the rest."""
    if work_off(work_context(), site_id, SLICE):
        dispatch([WorkRequested(TASK.name, site_id)])


def work_off_all(site_id: int) -> None:
    """Work on all tasks of a site, however long it takes."""
    work_off(work_context(), site_id)
