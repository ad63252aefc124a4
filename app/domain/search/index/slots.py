"""Claims of scheduled jobs: the scheduler that writes a slot first runs it."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import delete, func, select
from sqlalchemy.exc import IntegrityError

from app.domain.search.models import JobSlot
from app.domain.shared.clock import Clock
from app.extensions import db


def claim(clock: Clock, job: str, slot: datetime) -> bool:
    """Claim a slot of a job, and return whether the caller is to run the job now. Call it in a transaction. Of the
    slots missed while no worker was there only the last is made up for. The very first slot of a job is only recorded,
    since a new shop has missed none. Slots later than now, claimed while the clock was ahead, are deleted, so that they
    block no job."""
    later = delete(JobSlot).where(JobSlot.job == job, JobSlot.slot > clock.now())
    db.session.execute(later, execution_options={"synchronize_session": False})
    last = db.session.scalar(select(func.max(JobSlot.slot)).where(JobSlot.job == job))
    if last is not None and last >= slot:
        return False
    try:
        with db.session.begin_nested():
            db.session.add(JobSlot(job=job, slot=slot, claimed_at=clock.now()))
            db.session.flush()
    except IntegrityError:
        return False
    return last is not None
