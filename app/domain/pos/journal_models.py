"""The tables of the till's journal: its entries, the head of each site's chain, and the mails that carry it out."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, ForeignKey, Index, Integer, String
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.work.mailing import MailToSend
from app.domain.work.models import state_known
from app.extensions import Base


class PosJournalEntry(Base):
    """An entry of a site's journal, written once and never changed; it holds no personal data. `at` is RFC 3339 in UTC,
    the text that is hashed. `amount` in minor units, signed. `session_id` and `transaction_id` are plain ids: an entry
    outlives what it names."""

    __tablename__ = "pos_journal_entries"
    __table_args__ = (
        CheckConstraint(
            "type in ('SALE', 'REFUND', 'VOID', 'PAY_IN', 'PAY_OUT', 'DROP', 'Z_REPORT')", name="type_known"
        ),
    )

    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True)
    sequence: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    type: Mapped[str] = mapped_column(String(8))
    at: Mapped[str] = mapped_column(String(20))
    session_id: Mapped[str | None] = mapped_column(String(36))
    transaction_id: Mapped[str | None] = mapped_column(String(36))
    order_number: Mapped[str | None] = mapped_column(String(20))
    amount: Mapped[int | None] = mapped_column(Integer)
    tender_type: Mapped[str | None] = mapped_column(String(4))
    late: Mapped[bool]
    previous_hash: Mapped[str] = mapped_column(String(64))
    hash: Mapped[str] = mapped_column(String(64))


class PosJournalHead(Base):
    """The sequence and the hash of the latest entry of a site's journal. Its row is the lock of the journal."""

    __tablename__ = "pos_journal_heads"

    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True)
    sequence: Mapped[int] = mapped_column(Integer, default=0)
    hash: Mapped[str] = mapped_column(String(64))


class PosJournalMail(MailToSend, Base):
    """A mail that names the head of the journal after a Z report: the sequence and the hash of its entry."""

    __tablename__ = "pos_journal_mails"
    __table_args__ = (Index(None, "state", "next_try_at"), state_known())

    sequence: Mapped[int] = mapped_column(Integer)
    hash: Mapped[str] = mapped_column(String(64))
