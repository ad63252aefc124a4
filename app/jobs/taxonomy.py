"""Work on many products that follows from the taxonomy."""

from __future__ import annotations

from datetime import timedelta

from app.domain.taxonomy.tasks import TaskRequested
from app.domain.taxonomy.tasks.running import Means, work_off
from app.events import dispatch
from app.ports import clock
from app.transaction import transaction

SLICE = timedelta(seconds=3)  # Then other jobs get their turn: a save waits no longer than that to be found.


def work_off_slice(site_id: int) -> None:
    """Some of what there is to do for a site; the rest is asked for again."""
    if work_off(Means(clock(), transaction), site_id, SLICE):
        dispatch([TaskRequested(site_id)])


def work_off_all(site_id: int) -> None:
    """Everything, however long it takes."""
    work_off(Means(clock(), transaction), site_id)
