"""Golden searches, each with the result of its latest check."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.shared.columns import UtcDateTime
from app.extensions import Base


class GoldenSearch(Base):
    """For `query`, the product `sku` is among the first `within`. `rank` and `passes` are of the latest check, None
    before the first; `failing_since` is when it began to fail."""

    __tablename__ = "golden_searches"
    __table_args__ = (
        UniqueConstraint("site_id", "query", "sku"),
        CheckConstraint("within > 0", name="within_one"),
        {"sqlite_autoincrement": True},  # Ids are never reused: the activity log names records by them.
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
