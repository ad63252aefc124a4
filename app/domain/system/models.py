"""The latest run of each scheduled job."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.shared.columns import JsonValue, UtcDateTime
from app.extensions import Base


class JobRun(Base):
    """A row for each scheduled job. `finished_at` is None while it runs, and of a run that was cut off. `errors` are
    the reasons of failures by site id, "" for the whole machine; `report` is that of the last run that made one."""

    __tablename__ = "job_runs"

    job: Mapped[str] = mapped_column(String(64), primary_key=True)
    started_at: Mapped[datetime] = mapped_column(UtcDateTime)
    finished_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    errors: Mapped[dict[str, str]] = mapped_column(JsonValue, default=dict)
    report: Mapped[Any | None] = mapped_column(JsonValue)
