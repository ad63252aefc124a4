"""Work on many products that goes on in the background: requested here, done by runner.py, described by summary.py."""

from app.domain.taxonomy.models import Kind
from app.domain.taxonomy.tasks.queue import failed, is_unanswered, latest, request, resume, task_of, unfinished, view

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
