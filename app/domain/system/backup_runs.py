"""Backups that were requested in the admin: their table, how one is requested, and its work.

A backup is of the whole installation and lies in a folder of one machine, so each machine makes one at a time,
whichever site it was requested from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import BigInteger, Index, String, select, text
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Conflict
from app.domain.sites import activity
from app.domain.work import leases
from app.domain.work.context import WorkContext
from app.domain.work.leases import Claim, insert_alone, perform
from app.domain.work.models import LeasedWork, OfMachine, WorkKind, WorkRequested, requested_now, state_known
from app.domain.work.progress import WorkSummary
from app.domain.work.step_notes import StepNotes
from app.events import publish
from app.extensions import Base, db

MOST_ATTEMPTS = 3
BUSY = "A backup is already being made. Wait until it is done."
_UNFINISHED = text("state in ('waiting', 'running')")


class BackupRun(OfMachine, LeasedWork, Base):
    """A backup that is made by a worker of `machine`; `site_id` is the site on which it was requested. `step` is what
    is being done, `done` of `total` counts files. `file` and `bytes` are the name and the size of the finished backup,
    `note` says what is not in it."""

    __tablename__ = "backup_runs"
    __table_args__ = (
        Index(None, "machine", "created_at"),
        Index(
            "uq_backup_runs_unfinished",
            "machine",
            unique=True,
            sqlite_where=_UNFINISHED,
            postgresql_where=_UNFINISHED,
        ),
        state_known(),
    )

    queue = "builds"

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    step: Mapped[str] = mapped_column(String(100), default="")
    file: Mapped[str] = mapped_column(String(100), default="")
    bytes: Mapped[int] = mapped_column(BigInteger, default=0)
    note: Mapped[str] = mapped_column(String(500), default="")


BACKUP = WorkKind(
    "backup",
    BackupRun,
    lease=timedelta(seconds=60),
    kept=timedelta(days=30),
    most_attempts=MOST_ATTEMPTS,
    waits_at_most=timedelta(hours=12),
    exhausted=f"It broke off {MOST_ATTEMPTS} times. See the server log.",
    overdue="No worker started it within twelve hours. Start it again.",
)

Watch = Callable[[str, int, int | None], None]  # The function that notes a step, and how many of how many files.


@dataclass(frozen=True, slots=True)
class MadeBackup:
    """A finished backup: the name and the size of its file, and what is not in it."""

    file: str
    bytes: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class BackupSummary(WorkSummary):
    """A backup as its page shows it."""

    step: str
    file: str
    bytes: int
    note: str


def request_backup(author: Author, machine: str) -> BackupRun:
    """Request a backup of this machine and return its run. Call it in a transaction. Raises Conflict while one is
    unfinished."""
    run = BackupRun(**requested_now(author), machine=machine)
    if not insert_alone(run):
        raise Conflict(BUSY)
    activity.record(author, "backup.request", ("backup", run.id), "Requested a backup of the whole installation")
    publish(WorkRequested(BACKUP.name, run.id, machine))
    return run


def latest_backup(clock: Clock, machine: str) -> BackupSummary | None:
    """Return the backup of a machine that was requested last."""
    newest = select(BackupRun).where(BackupRun.machine == machine).order_by(BackupRun.created_at.desc(), BackupRun.id)
    run = db.session.scalar(newest.limit(1))
    if run is None:
        return None
    shown = BackupSummary.fields_of(run, leases.is_unanswered(BACKUP, clock, run))
    return BackupSummary(**shown, step=run.step, file=run.file, bytes=run.bytes, note=run.note)


def run_backup(context: WorkContext, make: Callable[[Watch], MadeBackup], run_id: str) -> bool:
    """Make a requested backup by `make`, and return True; False when another worker holds it, it is another machine's
    or the lease was lost. Its outcome is in the row."""
    which = BackupRun.id == run_id, BACKUP.may_run_on(context.machine)
    claim = context.commit(lambda: leases.claim(BACKUP, context.clock, *which))
    return claim is not None and perform(context, claim, lambda: _back_up(context, make, claim))


def _back_up(context: WorkContext, make: Callable[[Watch], MadeBackup], claim: Claim[BackupRun]) -> None:
    made = make(StepNotes(context, claim))
    columns = {"step": "", "file": made.file, "bytes": made.bytes, "note": made.note}
    context.commit(lambda: leases.finish(context.clock, claim, **columns))


def note_download(author: Author, name: str) -> None:
    """Log that a backup was downloaded. Call it in a transaction, as the next."""
    activity.record(author, "backup.download", ("backup", name), f"Downloaded the backup {name}")


def note_removal(author: Author, name: str) -> None:
    """Log that a backup was deleted."""
    activity.record(author, "backup.delete", ("backup", name), f"Deleted the backup {name}")
