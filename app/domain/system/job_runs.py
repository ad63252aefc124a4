"""The latest runs of the scheduled jobs. Call the writing functions in a transaction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import select

from app.domain.shared.clock import Clock
from app.domain.shared.upserting import upsert
from app.domain.system.models import JobRun
from app.extensions import db

MACHINE = ""  # In place of a site's id.
LONGEST_ERROR = 1000


def note_start(clock: Clock, job: str) -> None:
    """Note the start of a job's run. The report of the run before stays until this one has one."""
    begun: dict[str, Any] = {"started_at": clock.now(), "finished_at": None, "errors": {}}
    inserted = upsert(JobRun).values(job=job, **begun)
    db.session.execute(inserted.on_conflict_do_update(index_elements=["job"], set_=begun))


def note_end(clock: Clock, job: str, errors: Mapping[str, str] | None = None, report: Any = None) -> None:
    """Note the end of a job's run. `errors` are the reasons of failures by site id."""
    run = db.session.get(JobRun, job, with_for_update=True, populate_existing=True)
    if run is None:
        run = JobRun(job=job, started_at=clock.now())
        db.session.add(run)
    run.finished_at = clock.now()
    run.errors = {site: reason[:LONGEST_ERROR] for site, reason in (errors or {}).items()}
    if report is not None:
        run.report = report


def latest_runs() -> dict[str, JobRun]:
    return {run.job: run for run in db.session.scalars(select(JobRun))}
