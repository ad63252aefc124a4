"""Work on many products and on the index after a taxonomy was saved, followed live.

The editor's banner, a task's own page with the card that other pages include, and the values that products lost by a
task as a table.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain

from flask import Response, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_login import current_user
from werkzeug.wrappers import Response as AnyResponse

from app import ports
from app.blueprints.admin import spreadsheet
from app.blueprints.admin.blueprint import bp
from app.blueprints.callers import current_author
from app.domain.relevance.overview import run_summary
from app.domain.search.engine import EngineState, IndexName
from app.domain.search.index import runs
from app.domain.search.index.needed_rebuilds import needed_since
from app.domain.search.index.outbox import Unindexed, unindexed
from app.domain.search.index.rebuild_outcomes import RunSummary
from app.domain.search.index.runs import (
    brings_products_of,
    is_followed_by_products,
    latest_of_products,
)
from app.domain.search.models import RebuildRun
from app.domain.shared.problems import Conflict
from app.domain.sites import stored_events
from app.domain.taxonomy import tasks
from app.domain.taxonomy.models import Taxonomy, TaxonomyTask
from app.domain.taxonomy.saves import INDEX_EVENT
from app.domain.taxonomy.tasks.batch import LostValue, count_loss_entries, lost_values
from app.domain.taxonomy.tasks.restore import restorable_products
from app.domain.taxonomy.tasks.summary import TaskSummary, describe_value, summary_of
from app.domain.taxonomy.tasks.undo import undo
from app.domain.taxonomy.taxonomies import is_active, taxonomy_of
from app.domain.work.models import State
from app.ports import clock
from app.transaction import transaction
from app.web.htmx import redirect_page, wants_fragment
from app.web.permissions import Permission, requires

UNTIL_TASKS_BEGIN = timedelta(seconds=20)  # A task may begin this long after a save, once the worker has read of it.
LATE = timedelta(minutes=1)  # A rebuild that the shop needs for longer is offered to users, whatever keeps it.
RECENT = timedelta(minutes=2)  # How long a page says that a task has succeeded.
AFTER_A_SAVE = (tasks.Kind.RENAME_VALUES, tasks.Kind.RECOMPUTE)
Answer = str | AnyResponse
LOST_COLUMNS = ("Product", "Product name", "SKU", "Attribute", "Attribute name", "Value")


@dataclass(frozen=True, slots=True)
class IndexBanner:
    """The state of the index after a save of the taxonomy. `is_awaited`: it is not known yet what the save concerns, or
    the shop requests the rebuild in a moment. `is_late`: it has been needed for longer than LATE, so that users may
    request it. `has_failed`: it was in vain, so that they are to. `run` is the rebuild that brings the save into the
    index, or did, or failed to. `other` is a rebuild under way that does not, since it began before the save or is not
    of the products; `is_queued`: the products follow it. `is_recent`: the save was today. `unindexed`: changes of
    single records that search does not have. `awaits_tasks`: tasks may still come of the save."""

    taxonomy_id: str
    is_awaited: bool
    is_late: bool
    has_failed: bool
    is_recent: bool
    is_set_up: bool
    run: RunSummary | None
    other: RunSummary | None
    is_queued: bool
    unindexed: Unindexed
    tasks: tuple[TaxonomyTask, ...]
    awaits_tasks: bool


def banner_of(site_id: int, taxonomy: Taxonomy) -> IndexBanner | None:
    """Return the banner of a taxonomy; None for one that the shop does not use."""
    if not is_active(taxonomy):
        return None
    engine, age = ports.search_engine(), ports.clock().now() - taxonomy.updated_at
    moment = needed_since(site_id)
    saved_at = moment or taxonomy.updated_at
    latest, run = runs.latest_run(site_id), latest_of_products(site_id)
    other = latest if latest and latest.is_unfinished and not brings_products_of(latest, saved_at) else None
    found = _tasks_since_save(site_id, taxonomy)
    follows = run is not None and brings_products_of(run, saved_at)
    has_failed = moment is not None and follows and run is not None and run.has_failed
    return IndexBanner(
        taxonomy_id=taxonomy.id,
        is_awaited=stored_events.is_waiting(site_id, INDEX_EVENT) or (moment is not None and not has_failed),
        is_late=moment is not None and not has_failed and ports.clock().now() - moment > LATE,
        has_failed=has_failed,
        is_recent=age < timedelta(days=1),
        is_set_up=engine.status(site_id, IndexName.PRODUCTS).state is not EngineState.NOT_SET_UP,
        run=_summarise_run(run) if run and follows and (moment or age < timedelta(days=1)) else None,
        other=_summarise_run(other) if other and moment else None,
        is_queued=other is not None and is_followed_by_products(other),
        unindexed=unindexed(ports.clock(), site_id),
        tasks=found,
        awaits_tasks=age < UNTIL_TASKS_BEGIN and tasks.Kind.RECOMPUTE not in {task.kind for task in found},
    )


def _summarise_run(run: RebuildRun) -> RunSummary:
    return run_summary(ports.clock(), ports.search_engine(), run)


def to_restore(site_id: int) -> int:
    """Return the number of products that could be given back what another taxonomy's activation archived; 0 while a
    restore runs or waits."""
    if any(task.kind == tasks.Kind.RESTORE for task in tasks.unfinished(site_id)):
        return 0
    return restorable_products(site_id)


def _tasks_since_save(site_id: int, taxonomy: Taxonomy) -> tuple[TaxonomyTask, ...]:
    """Return the tasks under way, and of each kind the last since the save if it ended just now or failed."""
    last = (tasks.latest(site_id, [kind]) for kind in AFTER_A_SAVE)
    found = {task.id: task for task in last if task is not None and _is_news(task, taxonomy)}
    return tuple((found | {task.id: task for task in tasks.unfinished(site_id)}).values())


def _is_news(task: TaxonomyTask, taxonomy: Taxonomy) -> bool:
    if task.created_at < taxonomy.updated_at:
        return False
    return task.state != State.DONE or (task.finished_at or task.created_at) > ports.clock().now() - RECENT


@bp.get("/catalogue/taxonomy/<taxonomy_id>/banner")
@requires(Permission.MANAGE_TAXONOMY)
def taxonomy_banner(taxonomy_id: str) -> Answer:
    """Show a part of the banner, `reindex` or `tasks` by `part`; the page polls it while something is under way."""
    taxonomy = taxonomy_of(current_user.site_id, taxonomy_id)
    is_of_tasks = request.args.get("part") == "tasks"
    template = "admin/taxonomy/tasks/_tasks.html" if is_of_tasks else "admin/taxonomy/tasks/_reindex.html"
    banner = banner_of(current_user.site_id, taxonomy)
    return render_template(template, taxonomy=taxonomy, banner=banner)


@bp.post("/catalogue/taxonomy/<taxonomy_id>/rebuild")
@requires(Permission.MANAGE_SEARCH)
def taxonomy_rebuild(taxonomy_id: str) -> Answer:
    """Request the rebuild of the index of products, the same as in the Search section. Where one that began before the
    save is joined, another is queued behind it."""
    site_id, refused = current_user.site_id, None
    taxonomy = taxonomy_of(site_id, taxonomy_id)
    try:
        with transaction():
            runs.request_rebuild(
                current_author(),
                ports.search_engine(),
                ports.worker_locks(),
                runs.Scope.PRODUCTS,
                since=taxonomy.updated_at,
            )
    except Conflict as conflict:
        refused = conflict.message
    if wants_fragment():
        banner = banner_of(site_id, taxonomy_of(site_id, taxonomy.id))
        return render_template(
            "admin/taxonomy/tasks/_reindex.html", taxonomy=taxonomy, banner=banner, refused=refused, is_new=True
        )
    if refused:
        flash(refused, "bad")
    return redirect(url_for("admin.taxonomy_editor", taxonomy_id=taxonomy_id, saved=1))


@bp.app_template_filter("task_summary")
def task_summary(task: TaxonomyTask | TaskSummary) -> TaskSummary:
    """Return the summary of a task for `_task.html`; pages pass the row."""
    return task if isinstance(task, TaskSummary) else summary_of(task, tasks.is_unanswered(clock(), task))


@bp.get("/catalogue/taxonomy/tasks/<task_id>")
@requires(Permission.MANAGE_CATALOGUE)
def taxonomy_task(task_id: str) -> str:
    """Show the card of a task, which reloads while the task is unfinished. Once the state is another than the page
    knows (`was`), the change is announced."""
    task = task_summary(tasks.task_of(current_user.site_id, task_id))
    if not wants_fragment():
        return render_template("admin/taxonomy/tasks/page.html", task=task)
    changed = task.state != request.args.get("was")
    return render_template("admin/taxonomy/tasks/_card.html", task=task, announced=changed)


@bp.post("/catalogue/taxonomy/tasks/<task_id>/resume")
@requires(Permission.MANAGE_CATALOGUE)
def taxonomy_task_resume(task_id: str) -> ResponseReturnValue:
    """Resume a failed task where it was. One that another user has resumed meanwhile is shown as it is now."""
    with suppress(Conflict), transaction():
        tasks.resume(current_author(), task_id)
    if not wants_fragment():
        return redirect(url_for("admin.taxonomy_task", task_id=task_id))
    task = task_summary(tasks.task_of(current_user.site_id, task_id))
    return render_template("admin/taxonomy/tasks/_card.html", task=task, announced=True)


@bp.post("/catalogue/taxonomy/tasks/<task_id>/undo")
@requires(Permission.MANAGE_CATALOGUE)
def taxonomy_task_undo(task_id: str) -> ResponseReturnValue:
    """Request the task that undoes another, and go to it; where that cannot be undone, say why."""
    shown = task_id
    try:
        with transaction():
            shown = undo(current_author(), task_id).id
    except Conflict as conflict:
        flash(conflict.message, "bad")
    address = url_for("admin.taxonomy_task", task_id=shown)
    return redirect_page(address) if wants_fragment() else redirect(address)


@bp.get("/catalogue/taxonomy/tasks/<task_id>/lost")
@requires(Permission.MANAGE_CATALOGUE)
def taxonomy_task_lost(task_id: str) -> Response:
    """Return every value that products lost as CSV, even once the task itself is forgotten."""
    site_id = current_user.site_id
    if not count_loss_entries(site_id, task_id):
        tasks.task_of(site_id, task_id)
    lines = (_cells(lost) for batch in lost_values(site_id, task_id) for lost in batch)
    return spreadsheet.download(chain([LOST_COLUMNS], lines), "lost-values.csv")


def _cells(lost: LostValue) -> tuple[str, ...]:
    product = str(lost.product_id), lost.product_name, lost.sku
    return *product, lost.attribute_id, lost.attribute_name, describe_value(lost.value)
