"""The columns of leased work."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import CheckConstraint, ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.shared.author import Author
from app.domain.shared.columns import UtcDateTime
from app.domain.shared.times import rfc3339
from app.domain.work.states import UNFINISHED, State


def state_known() -> CheckConstraint:
    """Return the constraint that every table of leased work has."""
    return CheckConstraint("state in ('waiting', 'running', 'done', 'failed')", name="state_known")


def requested_now(author: Author) -> dict[str, Any]:
    """Return the columns of work that an author requests."""
    return {
        "id": str(uuid.uuid4()),
        "site_id": author.site_id,
        "state": State.WAITING.value,
        "done": 0,
        "requested_by": author.name[:100],
        "created_at": author.now(),
    }


class LeasedWork:
    """Work that one worker at a time claims. `lease_until` is when its lease runs out unless the worker renews it;
    `fence` rises with every claim, so that a worker whose lease ran out can write nothing once another has claimed the
    work. `attempts` counts the claims since it was requested; `done` of `total` is its progress, in units of its kind.
    `queue` is where its job waits, perhaps behind work of other kinds."""

    queue: ClassVar[str] = "default"

    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"))
    state: Mapped[str] = mapped_column(String(16), default=State.WAITING.value)
    requested_by: Mapped[str] = mapped_column(String(100))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    started_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    finished_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    lease_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    fence: Mapped[int] = mapped_column(default=0)
    attempts: Mapped[int] = mapped_column(default=0)
    done: Mapped[int] = mapped_column(default=0)
    total: Mapped[int | None]
    error: Mapped[str | None] = mapped_column(Text)

    @property
    def is_unfinished(self) -> bool:
        return self.state in UNFINISHED

    @property
    def has_failed(self) -> bool:
        return self.state == State.FAILED

    def state_json(self) -> dict[str, Any]:
        """Return the state of the work, who requested it and when, as JSON."""
        return {
            "state": self.state,
            "outcome": None if self.is_unfinished else self.state,
            "error": self.error,
            "requestedBy": self.requested_by,
            "createdAt": rfc3339(self.created_at),
            "startedAt": self.started_at and rfc3339(self.started_at),
            "finishedAt": self.finished_at and rfc3339(self.finished_at),
        }
