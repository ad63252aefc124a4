"""Imports, exports and transfers as the admin requests them: one at a time for each site, the dry run first.

An import commits batch by batch, each whole. One that broke off has taken some of them; doing it again, as the next
worker does, finds those unchanged and takes the rest.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, or_, select, update

from app.domain.bundles.models import BundleRun
from app.domain.bundles.parts import Part, in_order
from app.domain.bundles.transfer import check_parts, check_sites
from app.domain.machines.machines import label_of
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Conflict, Invalid, NotFound
from app.domain.shared.records import existing, find_record
from app.domain.shared.text import one_line
from app.domain.sites import activity
from app.domain.work import leases
from app.domain.work.leases import insert_alone
from app.domain.work.models import UNFINISHED, State, WorkKind, WorkRequested, requested_now
from app.domain.work.progress import WorkSummary
from app.events import publish
from app.extensions import db

FILE_KEPT = timedelta(days=1)
MOST_ATTEMPTS = 3
LISTED = 20
LONGEST_NAME = 200
MISSING = "Import or export not found."
BUSY = "An import or export is already running. Wait until it is done, or cancel it."
CANCELLED = "Cancelled."
OF_ANOTHER = "Another user requested this preview. Make your own preview first: your permissions may differ."


class Action(StrEnum):
    EXPORT = "export"
    IMPORT = "import"
    TRANSFER = "transfer"


BUNDLE_RUN = WorkKind(
    "bundle-run",
    BundleRun,
    lease=timedelta(seconds=60),
    kept=timedelta(days=30),
    most_attempts=MOST_ATTEMPTS,
    exhausted=f"It broke off {MOST_ATTEMPTS} times. What was imported so far is kept. Run it again to import the rest.",
    waits_at_most=timedelta(hours=12),
    overdue="No worker started it within twelve hours. Start it again.",
)


@dataclass(frozen=True, slots=True)
class RunSummary(WorkSummary):
    """A run as pages show it. `may_follow`: its dry run may be carried out, by the user who requested it; `has_file`:
    what it exported is there."""

    action: Action
    is_dry_run: bool
    parts: tuple[Part, ...]
    name: str
    step: str
    is_cancelled: bool
    source_site_id: int | None
    kept_until: datetime | None
    has_file: bool
    may_follow: bool
    user_id: int | None

    @property
    def is_refused(self) -> bool:
        return self.is_done and self.error is not None

    @property
    def title(self) -> str:
        if self.action is Action.EXPORT:
            return "Export"
        noun = "Import" if self.action is Action.IMPORT else "Transfer"
        return f"Preview of the {noun.lower()}" if self.is_dry_run else noun


def request_export(author: Author, user_id: int, name: str, parts: frozenset[Part]) -> BundleRun:
    """Request an export and return its run. Call it in a transaction, as all requests. Raises Invalid, Conflict."""
    if not parts:
        raise Invalid.one("no_parts", "Choose at least one part.", "#/parts")
    return _request(author, user_id, Action.EXPORT, parts, name=name)


def request_import(
    author: Author, user_id: int, name: str, file: str, parts: frozenset[Part], machine: str = ""
) -> BundleRun:
    """Request the preview of the import of a file that the machine received, and return its run; earlier previews end.
    Raises Invalid, Conflict."""
    if not parts:
        raise Invalid.one("no_parts", "Choose at least one part.", "#/parts")
    name = one_line(name)[:LONGEST_NAME] or "A file"
    run = _request(author, user_id, Action.IMPORT, parts, name=name, file=file, machine=machine, is_dry_run=True)
    _expire_earlier_previews(author)
    return run


def request_table_import(
    author: Author, user_id: int, name: str, file: str, columns: Sequence[str], machine: str = ""
) -> BundleRun:
    """Request the preview of the import of a table of products that the machine received, whose columns are about
    `columns`, and return its run; earlier previews of tables end. Raises Conflict."""
    name = one_line(name)[:LONGEST_NAME] or "A table"
    of_table = {"name": name, "file": file, "machine": machine, "is_dry_run": True, "columns": list(columns)}
    run = _request(author, user_id, Action.IMPORT, frozenset((Part.CATALOGUE,)), **of_table)
    _expire_earlier_previews(author, is_table=True)
    return run


def table_run_of(site_id: int, run_id: str) -> BundleRun:
    """Return the import of a table of products. Raises NotFound."""
    run = run_of(site_id, run_id)
    if run.columns is None:
        raise NotFound(MISSING)
    return run


def has_table(clock: Clock, run: BundleRun) -> bool:
    """Whether the table that a run tried or imported is there still, so that its lines can be corrected."""
    return run.columns is not None and _has_file(clock, run)


def request_transfer(
    author: Author, user_id: int, source: tuple[int, str], file: str, parts: frozenset[Part]
) -> BundleRun:
    """Request the preview of a transfer from the source, a site by its id and host, and return its run; earlier
    previews end. Raises Invalid, Conflict."""
    source_id, host = source
    check_sites(source_id, author.site_id)
    check_parts(parts)
    columns = {"name": host, "file": file, "source_site_id": source_id, "is_dry_run": True}
    run = _request(author, user_id, Action.TRANSFER, parts, **columns)
    _expire_earlier_previews(author)
    return run


def request_copy(author: Author, user_id: int, source: tuple[int, str], file: str, parts: frozenset[Part]) -> BundleRun:
    """Request a transfer without preview from the source, a site by its id and host, into a new site, in which nobody
    has anything to keep; return its run. Raises Invalid, Conflict."""
    source_id, host = source
    check_sites(source_id, author.site_id)
    check_parts(parts)
    return _request(author, user_id, Action.TRANSFER, parts, name=host, file=file, source_site_id=source_id)


def confirm_run(author: Author, user_id: int, run_id: str, removes: bool) -> BundleRun:
    """Request the import or transfer that a dry run of the same user previewed, with the same file, and return its run:
    with the rights of another user it could do more than the preview showed. Raises NotFound, Conflict."""
    tried = run_of(author.site_id, run_id, to_change=True)
    if tried.user_id != user_id:
        raise Conflict(OF_ANOTHER)
    if not _may_follow(author.clock, tried) or was_followed(tried):
        raise Conflict("This has been run already, or its file has expired. Start again.")
    columns: dict[str, Any] = {"file": tried.file, "name": tried.name, "source_site_id": tried.source_site_id}
    columns |= {"columns": tried.columns, "removes": removes, "follows": tried.id, "kept_until": tried.kept_until}
    columns |= {"machine": tried.machine}
    return _request(author, user_id, Action(tried.action), frozenset(map(Part, tried.parts)), **columns)


def cancel_run(author: Author, run_id: str) -> None:
    """End a run that waits, and have the worker of one that runs stop after its batch. Raises NotFound, Conflict."""
    run = run_of(author.site_id, run_id, to_change=True)
    if not run.is_unfinished:
        raise Conflict("It has already ended.")
    run.is_cancelled = True
    activity.record(author, "bundle.cancel", ("bundle_run", run.id), f"Cancelled the {run.action} {run.name}".strip())
    if run.state == State.WAITING:
        leases.end(BUNDLE_RUN, author.clock, run, State.DONE, CANCELLED)


def run_of(site_id: int, run_id: str, to_change: bool = False) -> BundleRun:
    """Return a run of the site. Raises NotFound."""
    return existing(find_record(BundleRun, site_id, run_id, to_change), MISSING)


def summary_of(clock: Clock, run: BundleRun) -> RunSummary:
    fields = RunSummary.fields_of(run, leases.is_unanswered(BUNDLE_RUN, clock, run))
    return RunSummary(
        **fields,
        action=Action(run.action),
        is_dry_run=run.is_dry_run,
        parts=tuple(in_order([Part(part) for part in run.parts])),
        name=run.name,
        step=run.step,
        is_cancelled=run.is_cancelled,
        source_site_id=run.source_site_id,
        kept_until=run.kept_until,
        has_file=run.action == Action.EXPORT and _has_file(clock, run),
        may_follow=_may_follow(clock, run),
        user_id=run.user_id,
    )


def latest_runs(clock: Clock, site_id: int, only_tables: bool = False) -> list[RunSummary]:
    query = select(BundleRun).where(BundleRun.site_id == site_id).order_by(BundleRun.created_at.desc(), BundleRun.id)
    if only_tables:
        query = query.where(BundleRun.columns.is_not(None))
    return [summary_of(clock, run) for run in db.session.scalars(query.limit(LISTED))]


def export_file(clock: Clock, site_id: int, run_id: str, machine: str = "") -> tuple[str, str]:
    """Return the file of an export that is done, and the name to give it. Raises NotFound once it is kept no longer,
    Conflict where it is not on this machine."""
    run = run_of(site_id, run_id)
    is_there = run.action == Action.EXPORT and _has_file(clock, run)
    file = existing(run.file if is_there else None, "This file has expired. Exports are kept for one day.")
    check_place(run, machine)
    return file, run.name


def check_place(run: BundleRun, machine: str) -> None:
    """Check that the file of a run is on this machine. Raises Conflict."""
    if run.machine not in ("", machine):
        where = label_of(run.machine) or "that received or wrote it"
        raise Conflict(f"This file is on the machine {where}, and another answered. Try again, or start anew.")


def report_of(run_id: str) -> dict[str, Any] | None:
    """Return the report of a run, None before it is done."""
    return db.session.scalar(select(BundleRun.report).where(BundleRun.id == run_id))


def live_files(clock: Clock) -> Sequence[str]:
    """Return the files that may still be downloaded or imported."""
    is_live = or_(BundleRun.state.in_(UNFINISHED), BundleRun.kept_until > clock.now())
    query = select(BundleRun.file).where(BundleRun.file.is_not(None), is_live)
    return [file for file in db.session.scalars(query) if file]


def ended_files(clock: Clock) -> Sequence[str]:
    """Return the files whose time is over. Another run may still need one, which is then among the live ones."""
    is_ended = BundleRun.state.not_in(UNFINISHED) & (BundleRun.kept_until <= clock.now())
    query = select(BundleRun.file).where(BundleRun.file.is_not(None), is_ended)
    return [file for file in db.session.scalars(query) if file]


def runs_of(site_ids: Collection[int]) -> ColumnElement[bool]:
    """Return the condition for runs whose files may hold data of these sites: a transfer's is of its source, too."""
    return or_(BundleRun.site_id.in_(site_ids), BundleRun.source_site_id.in_(site_ids))


def was_followed(tried: BundleRun) -> bool:
    """Whether a dry run was carried out already."""
    done = select(BundleRun.id).where(BundleRun.site_id == tried.site_id, BundleRun.follows == tried.id)
    return db.session.scalar(done.where(was_carried_out()).limit(1)) is not None


def was_carried_out() -> ColumnElement[bool]:
    return (BundleRun.state == State.DONE) & BundleRun.error.is_(None)


def _request(author: Author, user_id: int, action: Action, parts: frozenset[Part], **columns: Any) -> BundleRun:
    listed = [part.value for part in in_order(parts)]
    run = BundleRun(**requested_now(author), action=action.value, parts=listed, user_id=user_id, **columns)
    if not insert_alone(run):
        raise Conflict(BUSY)
    preview = " a preview of" if run.is_dry_run else ""
    subject = {Action.EXPORT: "an export", Action.IMPORT: f"the import of {run.name}"}
    what = subject.get(action, f"the transfer from {run.name}")
    summary = f"Requested{preview} {what}: {', '.join(listed)}"
    activity.record(author, "bundle.request", ("bundle_run", run.id), summary)
    publish(WorkRequested(BUNDLE_RUN.name, run.id, run.machine or ""))
    return run


def _expire_earlier_previews(author: Author, is_table: bool = False) -> None:
    """End the keeping of the files of earlier previews of the same sort, table or not: a new one takes their place.
    Tables that were imported keep theirs for its day, so that their lines can be corrected."""
    is_earlier = (BundleRun.site_id == author.site_id) & BundleRun.action.in_((Action.IMPORT, Action.TRANSFER))
    is_kept = BundleRun.state.not_in(UNFINISHED) & (BundleRun.kept_until > author.now())
    of_table = BundleRun.columns.is_not(None) & (BundleRun.is_dry_run | BundleRun.error.is_not(None))
    is_same = of_table if is_table else BundleRun.columns.is_(None)
    db.session.execute(update(BundleRun).where(is_earlier, is_kept, is_same).values(kept_until=author.now()))


def _has_file(clock: Clock, run: BundleRun) -> bool:
    is_kept = run.kept_until is not None and run.kept_until > clock.now()
    return run.state == State.DONE and run.error is None and run.file is not None and is_kept


def _may_follow(clock: Clock, run: BundleRun) -> bool:
    return run.is_dry_run and _has_file(clock, run)
