"""Tables of alerts, the messages about them, and jobs that keep failing."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.shared.records import UtcDateTime
from app.extensions import Base


def _unique(name: str, *columns: str, where: str, without_site: tuple[str, ...] = ()) -> tuple[Index, Index]:
    """Return the indexes that make the columns unique within each site and, with `without_site`, among the rows without
    a site, which is NULL and thus equal to nothing."""
    of_sites, of_machine = text(f"{where}site_id is not null"), text(f"{where}site_id is null")
    return (
        Index(f"uq_{name}_of_site", "site_id", *columns, unique=True, sqlite_where=of_sites, postgresql_where=of_sites),
        Index(
            f"uq_{name}_of_machine",
            *without_site,
            *columns,
            unique=True,
            sqlite_where=of_machine,
            postgresql_where=of_machine,
        ),
    )


class Alert(Base):
    """A fault from when it was first seen until it ended. Without a site it is the whole shop's or, where `machine`
    is the id of one, that machine's. `subject` distinguishes faults of one cause: a job, an index, a folder. `times`
    counts how often it was raised. `notified_at` and `end_notified_at` say when the messages about it were written
    (app/domain/alerts/messages.py)."""

    __tablename__ = "alerts"
    __table_args__ = (
        *_unique("alerts_open", "cause", "subject", where="ended_at is null and ", without_site=("machine",)),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    site_id: Mapped[int | None] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"))
    machine: Mapped[str] = mapped_column(String(36), default="", server_default="")
    cause: Mapped[str] = mapped_column(String(40))
    subject: Mapped[str] = mapped_column(String(200), default="")
    detail: Mapped[str] = mapped_column(Text)
    first_seen_at: Mapped[datetime] = mapped_column(UtcDateTime)
    last_seen_at: Mapped[datetime] = mapped_column(UtcDateTime)
    times: Mapped[int] = mapped_column(default=1)
    ended_at: Mapped[datetime | None] = mapped_column(UtcDateTime, index=True)
    notified_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    end_notified_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class AlertMessage(Base):
    """A message to be sent: that an alert was raised, or that it ended, by one channel. The row is deleted when the
    message was sent or given up."""

    __tablename__ = "alert_messages"

    alert_id: Mapped[int] = mapped_column(ForeignKey("alerts.id", ondelete="CASCADE"), primary_key=True)
    channel: Mapped[str] = mapped_column(String(20), primary_key=True)
    is_about_end: Mapped[bool] = mapped_column(primary_key=True)
    attempts: Mapped[int] = mapped_column(default=0)
    next_try_at: Mapped[datetime] = mapped_column(UtcDateTime)


class JobFailures(Base):
    """The number of times in a row that a job has failed, for a site or the whole shop; the name of one that each
    machine has ends with the machine’s id. A success removes the row."""

    __tablename__ = "job_failures"
    __table_args__ = (*_unique("job_failures", "job", where=""),)

    id: Mapped[int] = mapped_column(primary_key=True)
    site_id: Mapped[int | None] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"))
    job: Mapped[str] = mapped_column(String(100))
    in_a_row: Mapped[int] = mapped_column(default=0)
