"""Imports, exports and transfers that the admin requested; and how tables of products were matched."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String, text
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.shared.records import JsonValue, UtcDateTime
from app.domain.work.models import LeasedWork, OfMachine, state_known
from app.extensions import Base

UNFINISHED = text("state in ('waiting', 'running')")


class BundleRun(OfMachine, LeasedWork, Base):
    """An export of a site, an import into it, or a transfer from `source_site_id`; a dry run of them writes nothing,
    and the run that `follows` it carries it out with the same file. `file` is the bundle's in the folder of bundles of
    `machine` until `kept_until`, `name` what people see of it. `step` is what is being done; `error` of a finished run
    says why it was refused or cancelled. Where the file is a table of products, `columns` says what each of its columns
    is about."""

    __tablename__ = "bundle_runs"
    __table_args__ = (
        Index(None, "site_id", "created_at"),
        Index(
            "uq_bundle_runs_unfinished",
            "site_id",
            unique=True,
            sqlite_where=UNFINISHED,
            postgresql_where=UNFINISHED,
        ),
        state_known(),
    )

    queue = "builds"

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    action: Mapped[str] = mapped_column(String(16))
    is_dry_run: Mapped[bool] = mapped_column(default=False)
    parts: Mapped[list[str]] = mapped_column(JsonValue, default=list)
    removes: Mapped[bool] = mapped_column(default=True)
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    source_site_id: Mapped[int | None] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"))
    follows: Mapped[str | None] = mapped_column(String(36))
    file: Mapped[str | None] = mapped_column(String(100))
    name: Mapped[str] = mapped_column(String(200), default="")
    kept_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    step: Mapped[str] = mapped_column(String(100), default="")
    is_cancelled: Mapped[bool] = mapped_column(default=False)
    columns: Mapped[list[str] | None] = mapped_column(JsonValue)
    report: Mapped[dict[str, Any] | None] = mapped_column(JsonValue, deferred=True)


class ColumnMatch(Base):
    """What the columns of a table of products are about, as it was chosen last for tables whose columns have the same
    names: `header_digest` stands for these."""

    __tablename__ = "column_matches"

    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True)
    header_digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    columns: Mapped[list[str]] = mapped_column(JsonValue)
    matched_at: Mapped[datetime] = mapped_column(UtcDateTime)
