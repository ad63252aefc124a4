"""Tables of differences between the shop and the payment processor."""

from __future__ import annotations

from datetime import date, datetime

from sqlalchemy import Date, ForeignKey, Index, String, text
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.shared.columns import UtcDateTime
from app.extensions import Base

UNSETTLED = text("settled_at is null")


class LedgerDifference(Base):
    """A difference between the shop and the processor about one payment, until an admin settled it or both agree again.
    `ours` and `theirs` are words for people; `corrected`: the shop took over what the processor says."""

    __tablename__ = "pos_ledger_differences"
    __table_args__ = (
        Index(
            "uq_pos_ledger_differences_unsettled",
            "site_id",
            "intent_id",
            "kind",
            unique=True,
            sqlite_where=UNSETTLED,
            postgresql_where=UNSETTLED,
        ),
        Index(None, "transaction_id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"))
    account_id: Mapped[str] = mapped_column(String(255), default="")
    intent_id: Mapped[str] = mapped_column(String(255))
    transaction_id: Mapped[str | None] = mapped_column(ForeignKey("pos_transactions.id", ondelete="CASCADE"))
    kind: Mapped[str] = mapped_column(String(20))
    ours: Mapped[str] = mapped_column(String(100))
    theirs: Mapped[str] = mapped_column(String(100))
    corrected: Mapped[bool] = mapped_column(default=False)
    day: Mapped[date] = mapped_column(Date)
    found_at: Mapped[datetime] = mapped_column(UtcDateTime)
    settled_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    settled_by: Mapped[str | None] = mapped_column(String(100))
