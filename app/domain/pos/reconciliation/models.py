"""Reconciliation: the checks of open payments and the nightly comparisons with the processor."""

from __future__ import annotations

from datetime import date

from sqlalchemy import Date, ForeignKey, Index, String, text
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.work.models import LeasedWork, state_known
from app.extensions import Base

UNFINISHED = text("state in ('waiting', 'running')")


class PaymentCheckRun(LeasedWork, Base):
    """The latest check of a site's open payments, refunds and events at the processor. `done` counts those checked,
    `failed` those that could not be."""

    __tablename__ = "pos_payment_checks"
    __table_args__ = (state_known(),)

    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True)
    failed: Mapped[int] = mapped_column(default=0)


class PosReconciliation(LeasedWork, Base):
    """A comparison of a day's payments of a site with those of the processor; `done` counts the intents compared,
    `differences` what differed, `foreign` the intents of the accounts that are not this shop's."""

    __tablename__ = "pos_reconciliations"
    queue = "builds"
    __table_args__ = (
        Index(None, "site_id", "created_at"),
        Index(
            "uq_pos_reconciliations_unfinished",
            "site_id",
            unique=True,
            sqlite_where=UNFINISHED,
            postgresql_where=UNFINISHED,
        ),
        state_known(),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    day: Mapped[date] = mapped_column(Date)
    differences: Mapped[int] = mapped_column(default=0)
    foreign: Mapped[int] = mapped_column(default=0)
