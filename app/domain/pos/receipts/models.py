"""Receipts on their way by email."""

from __future__ import annotations

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.work.mailing import MailToSend
from app.domain.work.models import state_known
from app.extensions import Base


class PosReceiptMail(MailToSend, Base):
    """A receipt to be mailed. `link` leads to the receipt's page."""

    __tablename__ = "pos_receipt_mails"
    __table_args__ = (Index(None, "transaction_id", "created_at"), Index(None, "state", "next_try_at"), state_known())

    transaction_id: Mapped[str] = mapped_column(ForeignKey("pos_transactions.id", ondelete="CASCADE"))
    link: Mapped[str] = mapped_column(String(500))
