"""Asking for tasks, and what is known of them."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Select, func, select

from app.domain.shared.answering import does_not_answer
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Conflict, NotFound
from app.domain.shared.times import rfc3339
from app.domain.sites import audit
from app.domain.taxonomy.models import TaxonomyTask
from app.domain.taxonomy.task_kinds import DONE, FAILED, UNFINISHED, WAITING, Kind, TaskRequested
from app.domain.taxonomy.tasks.story import title_of
from app.events import publish
from app.extensions import db


def request(clock: Clock, site_id: int, kind: Kind, parameters: Mapping[str, Any], by: str) -> TaxonomyTask:
    """The task that will do it, after the site's earlier ones. An equal RECOMPUTE that waits still will see what
    is to be seen now, so it is joined. Call it in a transaction."""
    if kind is Kind.RECOMPUTE and (known := _equal_waiting(site_id, kind, parameters)):
        return known
    task = TaxonomyTask(
        id=str(uuid.uuid4()),
        site_id=site_id,
        kind=kind.value,
        parameters=dict(parameters),
        state=WAITING,
        reached=0,
        done=0,
        report={},
        requested_by=by[:100],
        created_at=_after_all_others(clock, site_id),
    )
    db.session.add(task)
    db.session.flush()
    publish(TaskRequested(site_id))
    return task


def resume(clock: Clock, site_id: int, task_id: str, by: str) -> TaxonomyTask:
    """A failed task goes on where it was, in its old place before those that were asked for later. Raises NotFound,
    Conflict when it has not failed (any more). Call it in a transaction."""
    task = task_of(site_id, task_id, to_change=True)
    if task.state != FAILED:
        raise Conflict("Only a task that failed can go on.")
    task.state, task.error, task.finished_at, task.refused_since = WAITING, None, None, None
    task.lease_until = clock.now()  # Since when nobody is at it.
    summary = f"Had a task go on: {title_of(task)}"
    audit.record(clock, site_id, by, "taxonomy.task_resume", ("taxonomy_task", task.id), summary)
    db.session.flush()
    publish(TaskRequested(site_id))
    return task


def _equal_waiting(site_id: int, kind: Kind, parameters: Mapping[str, Any]) -> TaxonomyTask | None:
    waiting = select(TaxonomyTask).where(
        TaxonomyTask.site_id == site_id, TaxonomyTask.kind == kind.value, TaxonomyTask.state == WAITING
    )
    known = db.session.scalars(waiting.with_for_update(skip_locked=True))
    return next((task for task in known if task.parameters == parameters), None)


def _after_all_others(clock: Clock, site_id: int) -> datetime:
    """Tasks are done in the order of this time, so no two of a transaction may share it."""
    newest = select(func.max(TaxonomyTask.created_at)).where(TaxonomyTask.site_id == site_id)
    last = db.session.scalar(newest)
    now = clock.now()
    return now if last is None or last < now else last + timedelta(microseconds=1)


def task_of(site_id: int, task_id: str, to_change: bool = False) -> TaxonomyTask:
    """`to_change` locks its row until the end of the transaction, and reads it anew. Raises NotFound."""
    query = select(TaxonomyTask).where(TaxonomyTask.site_id == site_id, TaxonomyTask.id == task_id)
    if to_change:
        query = query.with_for_update().execution_options(populate_existing=True)
    task = db.session.scalar(query)
    if task is None:
        raise NotFound("There is no such task on this site.")
    return task


def latest(site_id: int, kinds: Collection[Kind] | None = None) -> TaxonomyTask | None:
    """The task that was asked for last, of these kinds or of any."""
    query = _of_site(site_id)
    if kinds is not None:
        query = query.where(TaxonomyTask.kind.in_([kind.value for kind in kinds]))
    return db.session.scalar(query.order_by(TaxonomyTask.created_at.desc()).limit(1))


def unfinished(site_id: int) -> list[TaxonomyTask]:
    """Those that run or wait, in the order in which they were asked for."""
    query = _of_site(site_id).where(TaxonomyTask.state.in_(UNFINISHED))
    return list(db.session.scalars(query.order_by(TaxonomyTask.created_at, TaxonomyTask.id)))


def is_unanswered(clock: Clock, task: TaxonomyTask) -> bool:
    """Whether an unfinished task waits though no task of any site is being worked at. What the database refuses is
    tried again and again, which is no silence."""
    if task.state not in UNFINISHED or task.refused_since is not None:
        return False
    signs = select(func.max(TaxonomyTask.lease_until), func.max(TaxonomyTask.finished_at))
    lease_until, finished_at = db.session.execute(signs).one()
    return does_not_answer(clock.now(), task.created_at, lease_until, finished_at)


def failed(site_id: int) -> list[TaxonomyTask]:
    """Those that failed, in the order in which they were asked for; each can go on."""
    query = _of_site(site_id).where(TaxonomyTask.state == FAILED)
    return list(db.session.scalars(query.order_by(TaxonomyTask.created_at, TaxonomyTask.id)))


def _of_site(site_id: int) -> Select[TaxonomyTask]:
    return select(TaxonomyTask).where(TaxonomyTask.site_id == site_id)


def view(task: TaxonomyTask) -> dict[str, Any]:
    """The task as JSON."""
    return {
        "taskId": task.id,
        "kind": task.kind,
        "state": task.state,
        "done": task.done,
        "total": task.total,
        "report": task.report,
        "outcome": task.state if task.state in (DONE, FAILED) else None,
        "error": task.error,
        "requestedBy": task.requested_by,
        "createdAt": rfc3339(task.created_at),
        "startedAt": task.started_at and rfc3339(task.started_at),
        "finishedAt": task.finished_at and rfc3339(task.finished_at),
    }
