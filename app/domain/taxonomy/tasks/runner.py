"""The work on a site's tasks: renames first, the others in the order in which they were requested, batch by batch.

A batch is one transaction, which holds the task's row: what changes about products and how far the task is (`reached`,
`done`, `report`) are committed together, so a worker that dies loses and repeats nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import case, func, select
from sqlalchemy.exc import OperationalError

from app.domain.catalogue.models import Product
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Conflict
from app.domain.taxonomy.models import Kind, TaxonomyTask
from app.domain.taxonomy.tasks import assignments, follow_ups, restore, undo
from app.domain.taxonomy.tasks.batch import Batch, Task, Work, keep_lost_values
from app.domain.taxonomy.tasks.queue import TASK
from app.domain.taxonomy.taxonomies import CurrentTree, lock_active_id
from app.domain.work import leases
from app.domain.work.context import WorkContext
from app.domain.work.leases import Claim, perform
from app.domain.work.models import UNFINISHED, State
from app.extensions import db

WORKS: Mapping[Kind, Work] = {
    Kind.RECOMPUTE: Work(follow_ups.recompute_candidates, follow_ups.recompute_batch),
    Kind.RENAME_VALUES: Work(follow_ups.rename_candidates, follow_ups.rename_batch),
    Kind.ASSIGN_LEVEL: Work(assignments.assignment_candidates, assignments.change_level),
    Kind.ASSIGN_VALUE: Work(assignments.assignment_candidates, assignments.change_value),
    Kind.RESTORE: Work(restore.restore_candidates, restore.restore_batch),
    Kind.UNDO: Work(undo.undo_candidates, undo.undo_batch),
}


BATCH = 500  # Products of a transaction: a fraction of a second, for which others wait on SQLite.
GIVEN_UP_AFTER = timedelta(hours=1)
Works = Mapping[Kind, Work]


def work_off(
    context: WorkContext,
    site_id: int,
    for_at_most: timedelta | None = None,
    batch: int = BATCH,
    works: Works = WORKS,
) -> bool:
    """Do the tasks of a site, `batch` products at a time, until none is left or `for_at_most` is over. Return True when
    time ran out and more may be left; False when nothing is left for this caller, or another worker holds it. The
    outcome of a task is in its row; unexpected errors are raised as well."""
    until = None if for_at_most is None else context.clock.monotonic() + for_at_most.total_seconds()
    trees = CurrentTree(site_id)
    while claim := context.commit(lambda: _claim_first(context.clock, site_id)):
        turn = _Turn(context, claim, trees, until, batch, works)
        perform(context, claim, turn.do_batches)
        if turn.is_out_of_time:
            return True
    return False


def sites_with_work(clock: Clock) -> set[int]:
    """Return the sites that have tasks of which no worker holds one."""
    unfinished = TaxonomyTask.state.in_(UNFINISHED)
    free = select(TaxonomyTask.site_id, leases.is_free(TASK, clock.now())).where(unfinished)
    rows = db.session.execute(free).all()
    return {site_id for site_id, _ in rows} - {site_id for site_id, is_free in rows if not is_free}


def _claim_first(clock: Clock, site_id: int) -> Claim[TaxonomyTask] | None:
    """Claim the site's first unfinished task; None without one, and where a worker holds it. Renames come first: until
    then products hold words that the taxonomy no longer has, which other tasks would take for invalid values."""
    query = select(TaxonomyTask.id).where(TaxonomyTask.site_id == site_id, TaxonomyTask.state.in_(UNFINISHED))
    renames_first = case((TaxonomyTask.kind == Kind.RENAME_VALUES.value, 0), else_=1)
    first = db.session.scalar(query.order_by(renames_first, TaxonomyTask.created_at, TaxonomyTask.id).limit(1))
    return leases.claim(TASK, clock, TaxonomyTask.id == first) if first is not None else None


@dataclass
class _Turn:
    """One worker's time with a task."""

    context: WorkContext
    claim: Claim[TaxonomyTask]
    trees: CurrentTree
    until: float | None  # By the monotonic clock.
    batch: int
    works: Works
    is_out_of_time: bool = False

    def do_batches(self) -> None:
        """Do batches until the task ends, gives way to a rename, or the time is up. Raises LeaseLost."""
        clock = self.context.clock
        try:
            while self.context.commit(self._do_batch):
                if self.until is not None and clock.monotonic() >= self.until:
                    self.is_out_of_time = True
                    self.context.commit(lambda: leases.release(clock, self.claim))
                    return
        except OperationalError:
            self.context.commit(self._note_refusal)
            raise

    def _do_batch(self) -> bool:
        """Do a batch, and return whether the task may have more for this worker to do now."""
        clock = self.context.clock
        task = leases.held(self.claim)
        lock_active_id(task.site_id)
        subject = Task(task.site_id, task.parameters, *self.trees.read(clock))
        if _gives_way(task):  # Asked after the tree was read: where that has new words, their renaming is seen.
            leases.release(clock, self.claim)
            return False
        work = _work_of(self.works, task, subject)
        candidates = work.candidates(subject)
        if task.total is None:
            task.total = db.session.scalar(select(func.count()).select_from(candidates.order_by(None).subquery())) or 0
        next_ids = candidates.where(Product.id > task.reached).order_by(Product.id).limit(self.batch)
        ids = list(db.session.scalars(next_ids))
        if ids:
            report = deepcopy(task.report)
            batch = Batch(subject, ids, report, clock.now())
            work.change(batch)
            task.reached, task.done, task.report = ids[-1], task.done + len(ids), report
            task.lease_until, task.refused_since = clock.now() + self.claim.lease, None
            keep_lost_values(clock, task, batch.lost)
        if len(ids) < self.batch:
            leases.end(TASK, clock, task, State.DONE, None)
        return len(ids) == self.batch

    def _note_refusal(self) -> None:
        """Note that the database refused the work; after long enough the task fails. The tries may have outlasted the
        lease, which nothing could renew meanwhile."""
        clock = self.context.clock
        task = leases.held(self.claim)
        task.refused_since = since = task.refused_since or clock.now()
        if clock.now() - since >= GIVEN_UP_AFTER:
            error = "The database refused the work for an hour. It can go on where it was."
            leases.end(TASK, clock, task, State.FAILED, error)


def _gives_way(task: TaxonomyTask) -> bool:
    if task.kind == Kind.RENAME_VALUES:
        return False
    of_site = TaxonomyTask.site_id == task.site_id, TaxonomyTask.state.in_(UNFINISHED)
    renames = select(TaxonomyTask.id).where(*of_site, TaxonomyTask.kind == Kind.RENAME_VALUES.value)
    return db.session.scalar(renames.limit(1)) is not None


def _work_of(works: Works, task: TaxonomyTask, subject: Task) -> Work:
    """Return the work of a task. Raises Conflict when this shop cannot do it: a newer version may have created the
    task, before an older one was put in its place; and ids mean something else in another taxonomy, even where it has
    the same."""
    if task.kind not in works:
        raise Conflict(f"This version of the shop cannot do work of the kind {task.kind}.")
    if subject.parameters.get("taxonomyId", subject.taxonomy_id) != subject.taxonomy_id:
        raise Conflict("Another taxonomy is active now, so the rest was left as it is.")
    return works[Kind(task.kind)]
