"""The latest run of each scheduled job: its table, and what writes and reads it. Call the writing functions in a
transaction."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import String, select
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.machines.coexistence import SEPARATOR
from app.domain.shared.clock import Clock
from app.domain.shared.records import JsonValue, UtcDateTime, upsert
from app.extensions import Base, db

MACHINE = ""  # In place of a site's id.
LONGEST_ERROR = 1000


class JobRun(Base):
    """A row for each scheduled job, and for each machine where each has its own run: then the machine's id ends `job`
    (`on_machine`). `finished_at` is None while it runs, and of a run that was cut off. `errors` are
    the reasons of failures by site id, "" for the whole machine; `report` is that of the last run that made one."""

    __tablename__ = "job_runs"

    job: Mapped[str] = mapped_column(String(64), primary_key=True)
    started_at: Mapped[datetime] = mapped_column(UtcDateTime)
    finished_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    errors: Mapped[dict[str, str]] = mapped_column(JsonValue, default=dict)
    report: Mapped[Any | None] = mapped_column(JsonValue)


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


def latest_runs(machine: str = "") -> dict[str, JobRun]:
    """Return the latest runs by the names of their jobs: those of the whole shop, and of a machine those that each
    machine has."""
    named = (
        (*run.job.partition(SEPARATOR)[::2], run) for run in db.session.scalars(select(JobRun).order_by(JobRun.job))
    )
    return {name: run for name, of, run in named if of in ("", machine)}
