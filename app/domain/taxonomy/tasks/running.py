"""Does the tasks of a site: renames first, the others in the order in which they were asked for, batch by batch.

A batch is one transaction, which holds the task's row: what changes about products and how far the task is (`reached`,
`done`, `report`) are committed together. A worker that dies therefore loses and repeats nothing, and two that took up
the same task do its batches in turns. The lease only keeps the second from trying while the first lives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeVar

from sqlalchemy import Select, case, func, select
from sqlalchemy.exc import OperationalError

from app.domain.catalogue.models import Product
from app.domain.shared.clock import Clock
from app.domain.shared.committing import Transaction, commit
from app.domain.shared.problems import Conflict, DomainError
from app.domain.sites import audit
from app.domain.taxonomy.models import TaxonomyTask
from app.domain.taxonomy.products.classification import hold_active
from app.domain.taxonomy.products.current_tree import CurrentTree
from app.domain.taxonomy.task_kinds import DONE, FAILED, RUNNING, UNFINISHED, WAITING, Kind
from app.domain.taxonomy.tasks import lost_values
from app.domain.taxonomy.tasks.batch import Batch, Task, Work
from app.domain.taxonomy.tasks.story import story_of
from app.domain.taxonomy.tasks.works import WORKS
from app.extensions import db

T = TypeVar("T")
BATCH = 500  # Products of a transaction: a fraction of a second, for which others wait on SQLite.
LEASE = timedelta(seconds=30)
GIVEN_UP_AFTER = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Means:
    """What working needs besides the database; `transaction` commits at its end. A batch has up to `batch` products."""

    clock: Clock
    transaction: Transaction
    batch: int = BATCH
    works: Mapping[Kind, Work] = field(default_factory=lambda: WORKS)

    def commit(self, work: Callable[[], T]) -> T:
        return commit(self.transaction, work)


def work_off(means: Means, site_id: int, for_at_most: timedelta | None = None) -> bool:
    """Do what there is to do for the site, or as much of it as there is time for. True when more is left for this
    caller; False when nothing is, or somebody else is at it. How a task ended stands in its row; what nobody expected
    is raised as well."""
    until = None if for_at_most is None else means.clock.now() + for_at_most
    trees = CurrentTree(site_id)
    while True:
        task_id = means.commit(lambda: _take_up(means.clock, site_id))
        if task_id is None:
            return False
        if not _work(means, task_id, trees, until):
            return True


def _work(means: Means, task_id: str, trees: CurrentTree, until: datetime | None) -> bool:
    """Whether the task came to its end or gave way to another; else its time is up and it is let go, to be taken up
    again at once."""
    try:
        while means.commit(lambda: _do_batch(means, task_id, trees)):
            if until is not None and means.clock.now() >= until:
                means.commit(lambda: _let_go(means.clock, task_id))
                return False
    except (OperationalError, SystemExit, KeyboardInterrupt) as error:
        # The database is away or the worker is stopped; neither has to do with the task, which can go on later.
        refused = isinstance(error, OperationalError)
        means.commit(lambda: _let_go(means.clock, task_id, refused))
        raise
    except Exception as error:
        words = error.message if isinstance(error, DomainError) else f"Something unexpected went wrong: {error!r}"
        means.commit(lambda: _fail(means.clock, task_id, words))
        if not isinstance(error, DomainError):
            raise
    return True


def sites_with_work(clock: Clock) -> set[int]:
    """The sites that have something to do which nobody is at."""
    unfinished = TaxonomyTask.state.in_(UNFINISHED)
    rows = db.session.execute(select(TaxonomyTask.site_id, TaxonomyTask.lease_until).where(unfinished)).all()
    busy = {row.site_id for row in rows if row.lease_until is not None and row.lease_until > clock.now()}
    return {row.site_id for row in rows} - busy


def _take_up(clock: Clock, site_id: int) -> str | None:
    """The site's first unfinished task, unless somebody is at it. Renames come first: until then products hold words
    that the taxonomy no longer has, which other tasks would take for wrong ones."""
    query = select(TaxonomyTask).where(TaxonomyTask.site_id == site_id, TaxonomyTask.state.in_(UNFINISHED))
    renames_first = case((TaxonomyTask.kind == Kind.RENAME_VALUES.value, 0), else_=1)
    first = db.session.scalar(query.order_by(renames_first, TaxonomyTask.created_at, TaxonomyTask.id).limit(1))
    if first is None:
        return None
    task = _locked(first.id, skip=True)
    now = clock.now()
    if task is None or task.state not in UNFINISHED or (task.lease_until is not None and task.lease_until > now):
        return None
    if task.state == WAITING:
        task.state, task.started_at = RUNNING, now
    task.lease_until = now + LEASE
    return task.id


def _locked(task_id: str, skip: bool = False) -> TaxonomyTask | None:
    query = select(TaxonomyTask).where(TaxonomyTask.id == task_id).with_for_update(skip_locked=skip)
    return db.session.scalar(query.execution_options(populate_existing=True))


def _count(matching: Select[int]) -> int:
    return db.session.scalar(select(func.count()).select_from(matching.order_by(None).subquery())) or 0


def _do_batch(means: Means, task_id: str, trees: CurrentTree) -> bool:
    """Whether there may be more to do for this caller before anything else."""
    task = _locked(task_id)
    if task is None or task.state != RUNNING:
        return False
    hold_active(task.site_id)
    subject = Task(task.site_id, task.parameters, *trees.read(means.clock))
    if _gives_way(task):  # Asked after the tree was read: where that has new words, their renaming is seen.
        task.lease_until = means.clock.now()
        return False
    work = _work_of(means, task, subject)
    if task.total is None:
        task.total = _count(work.candidates(subject))
    query = work.candidates(subject).where(Product.id > task.reached).order_by(Product.id)
    ids = list(db.session.scalars(query.limit(means.batch)))
    if ids:
        report = deepcopy(task.report)
        batch = Batch(subject, ids, report, means.clock.now())
        work.change(batch)
        task.reached, task.done, task.report = ids[-1], task.done + len(ids), report
        lost_values.keep(means.clock, task, batch.lost)
        task.lease_until, task.refused_since = means.clock.now() + LEASE, None
    if len(ids) < means.batch:
        _end(means.clock, task, DONE)
    return len(ids) == means.batch


def _gives_way(task: TaxonomyTask) -> bool:
    if task.kind == Kind.RENAME_VALUES:
        return False
    of_site = TaxonomyTask.site_id == task.site_id, TaxonomyTask.state.in_(UNFINISHED)
    renames = select(TaxonomyTask.id).where(*of_site, TaxonomyTask.kind == Kind.RENAME_VALUES.value)
    return db.session.scalar(renames.limit(1)) is not None


def _work_of(means: Means, task: TaxonomyTask, subject: Task) -> Work:
    """Raises Conflict when this shop cannot do it: a newer version may have been asked, before an older one was put in
    its place; and ids mean something else in another taxonomy, even where it has the same."""
    if task.kind not in means.works:
        raise Conflict(f"This version of the shop cannot do work of the kind {task.kind}.")
    if subject.parameters.get("taxonomyId", subject.taxonomy_id) != subject.taxonomy_id:
        raise Conflict("Another taxonomy is active now, so the rest was left as it is.")
    return means.works[Kind(task.kind)]


def _let_go(clock: Clock, task_id: str, refused: bool = False) -> None:
    """For the next to take up. One whose next batch the database has refused for long is not tried for ever."""
    task = _locked(task_id)
    if task is None or task.state != RUNNING:
        return
    task.lease_until = clock.now()  # Since when nobody is at it.
    if refused:
        now = clock.now()
        task.refused_since = since = task.refused_since or now
        if now - since >= GIVEN_UP_AFTER:
            task.error = "The database refused the work for an hour. It can go on where it was."
            _end(clock, task, FAILED)


def _fail(clock: Clock, task_id: str, words: str) -> None:
    task = _locked(task_id)
    if task is not None and task.state == RUNNING:
        task.error = words[:1000]
        _end(clock, task, FAILED)


def _end(clock: Clock, task: TaxonomyTask, state: str) -> None:
    task.state, task.finished_at, task.lease_until = state, clock.now(), None
    if state == DONE:
        task.total = task.done
    told = {key: value for key, value in task.report.items() if key != "lost"}
    subject = (lost_values.SUBJECT, task.id)
    action = f"taxonomy.{task.kind.lower()}"
    audit.record(clock, task.site_id, task.requested_by, action, subject, story_of(task).summary, after=told)
