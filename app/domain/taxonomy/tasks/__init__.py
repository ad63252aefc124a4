"""Work on many products that goes on in the background: requested here, done by running.py, described by summary.py."""

from app.domain.taxonomy.task_kinds import Kind
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
    "failed",
    "is_unanswered",
    "latest",
    "request",
    "resume",
    "task_of",
    "unfinished",
    "view",
]
