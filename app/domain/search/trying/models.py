"""Searches that must go well, and what a change would do to what shoppers search for."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.shared.columns import JsonValue, UtcDateTime
from app.extensions import Base


class GoldenSearch(Base):
    """For `query`, the product `sku` is among the first `within`. `rank` and `passes` are of the latest check, None
    before the first; `failing_since` is when it began to fail."""

    __tablename__ = "golden_searches"
    __table_args__ = (
        UniqueConstraint("site_id", "query", "sku"),
        CheckConstraint("within > 0", name="within_one"),
        {"sqlite_autoincrement": True},  # As of a synonym: the activity log names records by their id.
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"))
    query: Mapped[str] = mapped_column(String(200))
    sku: Mapped[str] = mapped_column(String(64))
    within: Mapped[int] = mapped_column(default=5)
    passes: Mapped[bool | None]
    rank: Mapped[int | None]
    checked_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    failing_since: Mapped[datetime | None] = mapped_column(UtcDateTime)
    revision: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_by: Mapped[str] = mapped_column(String(100))


class SearchReplay(Base):
    """The top searches of the last 30 days, asked before and after a change that is not saved. `proposal` is that
    change, `report` what it would do. `lease_until` is how long the worker that has it may be silent."""

    __tablename__ = "search_replays"
    __table_args__ = (
        Index(None, "site_id", "created_at"),
        CheckConstraint("state in ('waiting', 'running', 'done', 'failed')", name="state_known"),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"))
    proposal: Mapped[dict[str, Any]] = mapped_column(JsonValue, default=dict)
    state: Mapped[str] = mapped_column(String(16), default="waiting")
    done: Mapped[int] = mapped_column(default=0)
    total: Mapped[int | None]
    report: Mapped[dict[str, Any]] = mapped_column(JsonValue, default=dict)
    error: Mapped[str | None] = mapped_column(Text)
    requested_by: Mapped[str] = mapped_column(String(100))
    lease_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    started_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    finished_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
