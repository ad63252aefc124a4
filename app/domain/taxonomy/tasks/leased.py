"""The declaration of taxonomy tasks as leased work."""

from __future__ import annotations

from datetime import timedelta

from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.sites import audit
from app.domain.taxonomy.models import TaxonomyTask
from app.domain.taxonomy.tasks import lost_values
from app.domain.taxonomy.tasks.summary import summary_of
from app.domain.work.kinds import WorkKind


def _record_end(clock: Clock, task: TaxonomyTask) -> None:
    if not task.has_failed:
        task.total = task.done
    report = {key: value for key, value in task.report.items() if key != "lost"}
    author = Author(task.site_id, task.requested_by, clock)
    subject = (lost_values.SUBJECT, task.id)
    audit.record(author, f"taxonomy.{task.kind.lower()}", subject, summary_of(task).summary, after=report)


TASK = WorkKind("task", TaxonomyTask, lease=timedelta(seconds=30), kept=timedelta(days=30), on_end=_record_end)
