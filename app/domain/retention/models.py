"""The clock as the scheduler last read it."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Mapped, mapped_column

from app.domain.shared.records import UtcDateTime
from app.extensions import Base

ONLY = 1


class StoredReading(Base):
    """One row; its columns are those of ClockReading (app/domain/retention/clock_trust.py)."""

    __tablename__ = "clock_readings"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    wall_at: Mapped[datetime] = mapped_column(UtcDateTime)
    steady_at: Mapped[datetime] = mapped_column(UtcDateTime)
    doubted_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
