"""Tasks on many products, followed live: a page of its own, and the card that other pages include; and a table of the
values that products lost by one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from flask import Response, redirect, render_template, request, stream_with_context, url_for
from flask.typing import ResponseReturnValue
from flask_login import current_user

from app.blueprints.admin import spreadsheet
from app.blueprints.admin.blueprint import bp
from app.blueprints.callers import current_author
from app.domain.shared.problems import Conflict
from app.domain.taxonomy import tasks
from app.domain.taxonomy.models import TaxonomyTask
from app.domain.taxonomy.tasks import lost_values
from app.domain.taxonomy.tasks.lost_values import LostValue
from app.domain.taxonomy.tasks.summary import TaskSummary, describe_value, summary_of
from app.htmx import wants_fragment
from app.permissions import Permission, requires
from app.ports import clock
from app.transaction import transaction

LOST_COLUMNS = ("Product", "Product name", "SKU", "Attribute", "Attribute name", "Value")


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


@bp.get("/catalogue/taxonomy/tasks/<task_id>/lost")
@requires(Permission.MANAGE_CATALOGUE)
def taxonomy_task_lost(task_id: str) -> Response:
    """Return every value that products lost as CSV, even once the task itself is forgotten."""
    site_id = current_user.site_id
    if not lost_values.entries(site_id, task_id):
        tasks.task_of(site_id, task_id)
    answer = Response(stream_with_context(_table(site_id, task_id)), mimetype="text/csv")
    answer.headers["Content-Disposition"] = 'attachment; filename="lost-values.csv"'
    return answer


def _table(site_id: int, task_id: str) -> Iterator[str]:
    """Yield the table in pieces: for 100,000 products it takes megabytes."""
    yield spreadsheet.BEGINNING + spreadsheet.lines([LOST_COLUMNS])
    for batch in lost_values.lost_values(site_id, task_id):
        yield spreadsheet.lines([_cells(lost) for lost in batch])


def _cells(lost: LostValue) -> tuple[str, ...]:
    product = str(lost.product_id), lost.product_name, lost.sku
    return *product, lost.attribute_id, lost.attribute_name, describe_value(lost.value)
