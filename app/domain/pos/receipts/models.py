"""Receipts on their way by email."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.shared.columns import UtcDateTime
from app.domain.work.models import LeasedWork, state_known
from app.extensions import Base


class PosReceiptMail(LeasedWork, Base):
    """A receipt to be mailed. `email` is None once it was sent, or given up: then it is not needed any more. `link`
    leads to the receipt's page; `next_try_at` is when the mail server is tried (again)."""

    __tablename__ = "pos_receipt_mails"
    __table_args__ = (Index(None, "transaction_id", "created_at"), Index(None, "state", "next_try_at"), state_known())

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    transaction_id: Mapped[str] = mapped_column(ForeignKey("pos_transactions.id", ondelete="CASCADE"))
    email: Mapped[str | None] = mapped_column(String(254))
    link: Mapped[str] = mapped_column(String(500))
    next_try_at: Mapped[datetime] = mapped_column(UtcDateTime)
