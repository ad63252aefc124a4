"""Jobs that fail again and again: a failure may pass by itself, the second in a row raises an alert. Call it in the
transaction in which the job's end is noted."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import ColumnElement, delete, select

from app.domain.alerts.alerts import end_alert, open_about, raise_alert
from app.domain.alerts.causes import Cause
from app.domain.alerts.models import JobFailures
from app.domain.machines.coexistence import on_machine
from app.domain.shared.clock import Clock
from app.domain.shared.records import upsert
from app.extensions import db

RAISES_AT = 2
OVER_AFTER = timedelta(days=7)  # Every scheduled job runs at least each night.


def note_failure(clock: Clock, job: str, error: str, site_id: int | None = None, machine: str = "") -> None:
    """Count a failure of a job. `error` is the reason; its first line is shown to the owner. `machine` is the id of the
    machine where each has its own run of the job."""
    counted = on_machine(job, machine)
    values = {"site_id": site_id, "job": counted, "in_a_row": 0}
    db.session.execute(upsert(JobFailures).values(**values).on_conflict_do_nothing())
    row = db.session.scalars(select(JobFailures).where(*_identity(counted, site_id)).with_for_update()).one()
    row.in_a_row += 1
    if row.in_a_row >= RAISES_AT:
        raise_alert(clock, Cause.JOB_FAILED_TWICE, error.partition("\n")[0], site_id, job, machine)


def note_success(clock: Clock, job: str, site_id: int | None = None, machine: str = "") -> None:
    removed = db.session.execute(delete(JobFailures).where(*_identity(on_machine(job, machine), site_id)))
    if removed.rowcount:  # type: ignore[attr-defined]
        end_alert(clock, Cause.JOB_FAILED_TWICE, site_id, job, machine)


def end_unrepeated(clock: Clock) -> None:
    """End the alerts about jobs that have not failed again for a week: they are no longer requested, or no job has
    their name, so that no success will come."""
    for alert in open_about(Cause.JOB_FAILED_TWICE):
        if abs(clock.now() - alert.last_seen_at) >= OVER_AFTER:
            note_success(clock, alert.subject, alert.site_id, alert.machine)


def _identity(job: str, site_id: int | None) -> tuple[ColumnElement[bool], ...]:
    return JobFailures.job == job, JobFailures.site_id.is_not_distinct_from(site_id)
