"""Work on many products, followed live: a page of its own, and the card that other pages include."""

from __future__ import annotations

from flask import render_template, request
from flask_login import current_user

from app.blueprints.admin.blueprint import bp
from app.domain.taxonomy import tasks
from app.domain.taxonomy.tasks import story
from app.domain.taxonomy.tasks.story import TaskStory
from app.htmx import wants_fragment
from app.permissions import Permission, requires


@bp.app_template_filter("task_story")
def task_story(task: story.Task | TaskStory) -> TaskStory:
    """A task as `_task.html` asks about it; pages hand it the row."""
    return task if isinstance(task, TaskStory) else story.story_of(task)


@bp.get("/catalogue/taxonomy/tasks/<task_id>")
@requires(Permission.MANAGE_CATALOGUE)
def taxonomy_task(task_id: str) -> str:
    """The card asks for itself again and again while the task is unfinished. Once the state is another than the page
    knows (`was`), the change is announced."""
    task = task_story(tasks.task_of(current_user.site_id, task_id))
    if not wants_fragment():
        return render_template("admin/taxonomy/task.html", task=task)
    changed = task.state != request.args.get("was")
    return render_template("admin/taxonomy/_task_card.html", task=task, announced=changed)
