"""Work on many products that goes on in the background: asked for here, done by running.py, told by story.py."""

from app.domain.taxonomy.task_kinds import Kind, TaskRequested
from app.domain.taxonomy.tasks.requests import (
    failed,
    is_unanswered,
    latest,
    request,
    resume,
    task_of,
    unfinished,
    view,
)

__all__ = [
    "Kind",
    "TaskRequested",
    "failed",
    "is_unanswered",
    "latest",
    "request",
    "resume",
    "task_of",
    "unfinished",
    "view",
]
