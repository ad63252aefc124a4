"""The values that products lost by a task, kept whole in the activity log: an entry for each batch, in the transaction
in which it happened. So a mistake with thousands of products can be fixed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import func, select

from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.sites import audit
from app.domain.sites.models import AuditEntry
from app.domain.taxonomy.models import TaxonomyTask
from app.domain.taxonomy.task_kinds import Kind
from app.domain.taxonomy.tasks.summary import TITLES, only_replaces, products
from app.extensions import db

SUBJECT = "taxonomy_task"
MOST_NAMED = 3  # Attributes, in the summary.

Lost = Mapping[str, Any]  # `productId`, `sku` and `values`, by attribute id.


def keep(clock: Clock, task: TaxonomyTask, lost: Sequence[Lost]) -> None:
    """Keep the lost values of a batch in the activity log; nothing for a batch that lost nothing."""
    if not lost:
        return
    happened = "had values replaced of" if only_replaces(task.kind, task.parameters) else "lost values of"
    what = f"{TITLES[Kind(task.kind)]}: {products(len(lost))} {happened} {_attributes(task, lost)}"
    subject = (SUBJECT, task.id)
    audit.record(
        Author(task.site_id, task.requested_by, clock), audit.LOST_VALUES, subject, what, before={"lost": list(lost)}
    )


def _attributes(task: TaxonomyTask, lost: Sequence[Lost]) -> str:
    names = task.report.get("names", {})
    found = [names.get(key, key) for key in dict.fromkeys(key for one in lost for key in one["values"])]
    more = len(found) - MOST_NAMED
    rest = f" and {more} more attribute{'s' if more > 1 else ''}" if more > 0 else ""
    return ", ".join(found[:MOST_NAMED]) + rest


def entries(site_id: int, task_id: str) -> int:
    """Return the number of log entries with values that products lost by a task: 0 also for a task of another site."""
    return db.session.scalar(select(func.count()).select_from(AuditEntry).where(*_about(site_id, task_id))) or 0


def lost_values(site_id: int, task_id: str) -> Iterator[Lost]:
    """Yield the lost values of a task product by product, as long as the log keeps them; a batch is read at a time."""
    for entry_id in db.session.scalars(select(AuditEntry.id).where(*_about(site_id, task_id)).order_by(AuditEntry.id)):
        found = db.session.scalar(select(AuditEntry.before).where(AuditEntry.id == entry_id))
        yield from (found or {}).get("lost", ())


def _about(site_id: int, task_id: str) -> tuple[Any, ...]:
    return (
        AuditEntry.site_id == site_id,
        AuditEntry.subject_type == SUBJECT,
        AuditEntry.subject_id == task_id,
        AuditEntry.action == audit.LOST_VALUES,
    )
