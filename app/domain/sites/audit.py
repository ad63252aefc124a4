"""The activity log."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from app.domain.shared.author import Author
from app.domain.sites.models import AuditEntry
from app.extensions import db

COMMAND_LINE = "command line"  # The actor in the activity log where nobody signed in.
LOST_VALUES = "taxonomy.lost_values"  # Its `before` may be megabytes: what the products of one batch lost.


def record(
    author: Author,
    action: str,
    subject: tuple[str, str],
    summary: str,
    before: Any = None,
    after: Any = None,
) -> None:
    """Add an entry to the activity log, in the transaction of the change. `subject` is (type, id); `action` is a dotted
    verb such as `product.save`; `before` and `after` hold only what changed."""
    db.session.add(
        AuditEntry(
            site_id=author.site_id,
            at=author.now(),
            actor=author.name[:100],
            action=action,
            subject_type=subject[0],
            subject_id=subject[1],
            summary=summary[:500],
            before=before,
            after=after,
            origin=author.origin.value if author.origin else None,
        )
    )


def last_action(site_id: int) -> str | None:
    """Return the latest action on the site; None where there was none."""
    newest = select(AuditEntry.action).where(AuditEntry.site_id == site_id)
    return db.session.scalar(newest.order_by(AuditEntry.at.desc(), AuditEntry.id.desc()).limit(1))


def has_entry(site_id: int, action: str) -> bool:
    """Whether the site's activity log has an entry of this action."""
    query = select(AuditEntry.id).where(AuditEntry.site_id == site_id, AuditEntry.action == action).limit(1)
    return db.session.scalar(query) is not None
