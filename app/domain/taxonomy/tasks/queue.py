"""Tasks of a site as leased work: requested here in the order in which they are done, and found again."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Select, func, select

from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Conflict
from app.domain.shared.records import existing, find_record
from app.domain.sites import activity
from app.domain.taxonomy.models import Kind, TaxonomyTask
from app.domain.taxonomy.tasks.batch import TASK_SUBJECT
from app.domain.taxonomy.tasks.befores import without_befores
from app.domain.taxonomy.tasks.summary import summary_of, title_of
from app.domain.work import leases
from app.domain.work.models import UNFINISHED, State, WorkKind, WorkRequested, requested_now
from app.events import publish
from app.extensions import db


def _record_end(clock: Clock, task: TaxonomyTask) -> None:
    if not task.has_failed:
        task.total = task.done
    report = {key: value for key, value in without_befores(task.report).items() if key != "lost"}
    author = Author(task.site_id, task.requested_by, clock)
    subject = (TASK_SUBJECT, task.id)
    activity.record(author, f"taxonomy.{task.kind.lower()}", subject, summary_of(task).summary, after=report)


TASK = WorkKind("task", TaxonomyTask, lease=timedelta(seconds=30), kept=timedelta(days=30), on_end=_record_end)


def request(author: Author, kind: Kind, parameters: Mapping[str, Any]) -> TaxonomyTask:
    """Add a task behind the site's earlier ones and return it. Where an equal RECOMPUTE still waits, it is returned
    instead, since it will see the present state. Call it in a transaction."""
    site_id = author.site_id
    if kind is Kind.RECOMPUTE and (known := _equal_waiting(site_id, kind, parameters)):
        return known
    columns = requested_now(author) | {"created_at": _after_all_others(author)}
    task = TaxonomyTask(**columns, kind=kind.value, parameters=dict(parameters), reached=0, report={})
    db.session.add(task)
    db.session.flush()
    publish(WorkRequested(TASK.name, site_id))
    return task


def resume(author: Author, task_id: str) -> TaxonomyTask:
    """Resume a failed task where it stopped, in its old place before those that were requested later. Raises NotFound,
    Conflict when it has not failed (any more). Call it in a transaction."""
    task = task_of(author.site_id, task_id, to_change=True)
    if not task.has_failed:
        raise Conflict("Only a task that failed can go on.")
    task.state, task.attempts = State.WAITING.value, 0
    task.started_at = task.finished_at = task.refused_since = task.error = None
    task.lease_until = author.now()  # Since when no worker holds it.
    summary = f"Had a task go on: {title_of(task)}"
    activity.record(author, "taxonomy.task_resume", (TASK_SUBJECT, task.id), summary)
    db.session.flush()
    publish(WorkRequested(TASK.name, author.site_id))
    return task


def _equal_waiting(site_id: int, kind: Kind, parameters: Mapping[str, Any]) -> TaxonomyTask | None:
    waiting = select(TaxonomyTask).where(
        TaxonomyTask.site_id == site_id, TaxonomyTask.kind == kind.value, TaxonomyTask.state == State.WAITING
    )
    known = db.session.scalars(waiting.with_for_update(skip_locked=True))
    return next((task for task in known if task.parameters == parameters), None)


def _after_all_others(author: Author) -> datetime:
    """Return the time of a new task. Tasks are done in the order of this time, so no two of a transaction may share
    it."""
    newest = select(func.max(TaxonomyTask.created_at)).where(TaxonomyTask.site_id == author.site_id)
    last = db.session.scalar(newest)
    now = author.now()
    return now if last is None or last < now else last + timedelta(microseconds=1)


def task_of(site_id: int, task_id: str, to_change: bool = False) -> TaxonomyTask:
    """Return the task. `to_change` locks its row until the end of the transaction, and reads it anew. Raises
    NotFound."""
    return existing(find_record(TaxonomyTask, site_id, task_id, to_change), "There is no such task on this site.")


def latest(site_id: int, kinds: Collection[Kind] | None = None) -> TaxonomyTask | None:
    """The task that was requested last, of these kinds or of any."""
    query = _of_site(site_id)
    if kinds is not None:
        query = query.where(TaxonomyTask.kind.in_([kind.value for kind in kinds]))
    return db.session.scalar(query.order_by(TaxonomyTask.created_at.desc()).limit(1))


def unfinished(site_id: int) -> list[TaxonomyTask]:
    """Return the tasks that run or wait, in the order in which they were requested."""
    query = _of_site(site_id).where(TaxonomyTask.state.in_(UNFINISHED))
    return list(db.session.scalars(query.order_by(TaxonomyTask.created_at, TaxonomyTask.id)))


def is_unanswered(clock: Clock, task: TaxonomyTask) -> bool:
    """Whether an unfinished task waits though no worker is busy with any of its queue. One that the database refuses is
    being tried, so it is answered."""
    return task.refused_since is None and leases.is_unanswered(TASK, clock, task)


def failed(site_id: int) -> list[TaxonomyTask]:
    """Return the tasks that failed, in the order in which they were requested; each can be resumed."""
    query = _of_site(site_id).where(TaxonomyTask.state == State.FAILED)
    return list(db.session.scalars(query.order_by(TaxonomyTask.created_at, TaxonomyTask.id)))


def _of_site(site_id: int) -> Select[TaxonomyTask]:
    return select(TaxonomyTask).where(TaxonomyTask.site_id == site_id)


def view(task: TaxonomyTask) -> dict[str, Any]:
    """The task as JSON."""
    progress = {"done": task.done, "total": task.total, "report": without_befores(task.report)}
    return {"taskId": task.id, "kind": task.kind} | task.state_json() | progress
