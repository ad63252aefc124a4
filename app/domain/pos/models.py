"""The tables of the till: locations, agents and their work sessions, payments, refunds, idempotency keys, the
processor's events, receipts by email, what is compared with the processor, and the journal."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Date,
    ForeignKey,
    Index,
    Integer,
    String,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.domain.pos.processor import Address
from app.domain.pos.rules import LocationFields
from app.domain.pos.states import OPEN_STATUSES, TransactionStatus
from app.domain.shared.records import NEVER_REUSED, JsonValue, UtcDateTime
from app.domain.work.mailing import MailToSend
from app.domain.work.models import LeasedWork, state_known
from app.extensions import Base

OPEN = text(f"status in ({', '.join(repr(str(status)) for status in sorted(OPEN_STATUSES))})")
ATTENTION = text("(anomaly is not null or status = 'UNKNOWN')")  # Payments that staff must look at.
WAITING = text("processed_at is null")
MONEY_SUM = BigInteger  # Totals over many payments may exceed 32 bits; sums are cast to this.
STATUSES = ", ".join(repr(str(status)) for status in TransactionStatus)
UNSETTLED = text("settled_at is null")
UNFINISHED = text("state in ('waiting', 'running')")


class PosLocation(Base):
    """A place where cards are taken. `location_id` is the processor's id of the location, which every client uses.
    `processor_account_id` None: the account of the site's setting."""

    __tablename__ = "pos_locations"
    __table_args__ = (UniqueConstraint("site_id", "location_id"), NEVER_REUSED)

    id: Mapped[int] = mapped_column(primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"))
    location_id: Mapped[str] = mapped_column(String(255))
    display_name: Mapped[str] = mapped_column(String(100))
    line1: Mapped[str] = mapped_column(String(200), default="")
    line2: Mapped[str] = mapped_column(String(200), default="")
    city: Mapped[str] = mapped_column(String(100), default="")
    state: Mapped[str] = mapped_column(String(100), default="")
    postal_code: Mapped[str] = mapped_column(String(20), default="")
    country: Mapped[str] = mapped_column(String(2), default="")
    processor_account_id: Mapped[str | None] = mapped_column(String(255))
    enabled: Mapped[bool] = mapped_column(default=True)
    revision: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)

    @property
    def address(self) -> Address:
        return Address(self.line1, self.line2, self.city, self.state, self.postal_code, self.country)

    @property
    def fields(self) -> LocationFields:
        return LocationFields(self.display_name, self.address, self.processor_account_id)


class PosAgent(Base):
    """A user who may take payments. `max_transaction_amount` in minor units, None is the site's limit."""

    __tablename__ = "pos_agents"
    __table_args__ = (
        UniqueConstraint("site_id", "user_id"),
        CheckConstraint("max_transaction_amount is null or max_transaction_amount > 0", name="limit_positive"),
        NEVER_REUSED,
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    display_name: Mapped[str] = mapped_column(String(100))
    enabled: Mapped[bool] = mapped_column(default=True)
    can_process_quick_payments: Mapped[bool] = mapped_column(default=True)
    can_build_orders: Mapped[bool] = mapped_column(default=True)
    can_refund: Mapped[bool] = mapped_column(default=False)
    can_discount: Mapped[bool] = mapped_column(default=False)
    max_transaction_amount: Mapped[int | None] = mapped_column(Integer)
    disabled_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    disabled_by: Mapped[str | None] = mapped_column(String(100))
    revision: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)

    locations: Mapped[list[PosLocation]] = relationship(
        secondary="pos_agent_locations", order_by="PosLocation.display_name"
    )


class PosAgentLocation(Base):
    """A location at which an agent may work."""

    __tablename__ = "pos_agent_locations"

    agent_id: Mapped[int] = mapped_column(ForeignKey("pos_agents.id", ondelete="CASCADE"), primary_key=True)
    location_id: Mapped[int] = mapped_column(
        ForeignKey("pos_locations.id", ondelete="CASCADE"), primary_key=True, index=True
    )


class PosSession(Base):
    """A work session at a till, from signing in to the Z report. `id` is that of the API session, which is purged
    sooner. Money in minor units; the totals of its payments are computed, not stored."""

    __tablename__ = "pos_sessions"
    __table_args__ = (Index(None, "site_id", "started_at"),)

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"))
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)
    agent_id: Mapped[int | None] = mapped_column(ForeignKey("pos_agents.id", ondelete="SET NULL"), index=True)
    location_id: Mapped[int | None] = mapped_column(ForeignKey("pos_locations.id", ondelete="SET NULL"), index=True)
    device_id: Mapped[str | None] = mapped_column(String(100))
    device_name: Mapped[str | None] = mapped_column(String(100))
    user_agent: Mapped[str] = mapped_column(String(200), default="")
    ip: Mapped[str] = mapped_column(String(64), default="")
    started_at: Mapped[datetime] = mapped_column(UtcDateTime)
    last_seen_at: Mapped[datetime] = mapped_column(UtcDateTime)
    expires_at: Mapped[datetime] = mapped_column(UtcDateTime)
    ended_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    end_reason: Mapped[str | None] = mapped_column(String(20))
    currency: Mapped[str] = mapped_column(String(3))
    opening_float: Mapped[int | None] = mapped_column(Integer)
    counted_cash: Mapped[int | None] = mapped_column(Integer)
    closing_note: Mapped[str] = mapped_column(String(500), default="")
    closed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class PosTransaction(Base):
    """A card payment, stored before the processor is called. `version` rises with every transition, which is made by
    compare and set. `next_check_at` is the time of its next check against the processor, None for none; `checks` counts
    the checks since its last change. `processor_account_id` "" is the platform's own account."""

    __tablename__ = "pos_transactions"
    __table_args__ = (
        UniqueConstraint("processor", "processor_account_id", "processor_intent_id"),
        Index("uq_pos_transactions_open_of_order", "order_id", unique=True, sqlite_where=OPEN, postgresql_where=OPEN),
        Index(None, "site_id", "created_at", "id"),
        Index(None, "site_id", "location_id"),  # To count payments, in a third of the time.
        Index(None, "site_id", "location_id", "created_at", "id"),
        Index(None, "site_id", "processor_intent_id", "location_id"),
        Index(None, "agent_id", "created_at", "id"),
        Index(None, "session_id"),
        Index(None, "order_id"),  # Else every basket that is purged costs a look at all payments.
        Index("ix_pos_transactions_attention", "site_id", sqlite_where=ATTENTION, postgresql_where=ATTENTION),
        Index(
            None,
            "next_check_at",
            sqlite_where=text("next_check_at is not null"),
            postgresql_where=text("next_check_at is not null"),
        ),
        CheckConstraint("amount_in_pence > 0", name="amount_positive"),
        CheckConstraint("captured_amount >= 0 and refunded_amount >= 0", name="amounts_known"),
        CheckConstraint(f"status in ({STATUSES})", name="status_known"),
        CheckConstraint("type in ('QUICK_PAYMENT', 'ORDER_PAYMENT')", name="type_known"),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"))
    agent_id: Mapped[int] = mapped_column(ForeignKey("pos_agents.id"))
    location_id: Mapped[int] = mapped_column(ForeignKey("pos_locations.id"))
    session_id: Mapped[str | None] = mapped_column(ForeignKey("pos_sessions.id", ondelete="SET NULL"))
    type: Mapped[str] = mapped_column(String(16))
    order_id: Mapped[str | None] = mapped_column(ForeignKey("orders.id", ondelete="SET NULL"))
    order_number: Mapped[str | None] = mapped_column(String(20))
    amount_in_pence: Mapped[int] = mapped_column(Integer)
    currency: Mapped[str] = mapped_column(String(3))
    status: Mapped[str] = mapped_column(String(20))
    version: Mapped[int] = mapped_column(default=1)
    processor: Mapped[str] = mapped_column(String(20))
    processor_account_id: Mapped[str] = mapped_column(String(255), default="")
    processor_intent_id: Mapped[str | None] = mapped_column(String(255))
    processor_charge_id: Mapped[str | None] = mapped_column(String(255))
    card_brand: Mapped[str | None] = mapped_column(String(30))
    card_last4: Mapped[str | None] = mapped_column(String(4))
    funding: Mapped[str | None] = mapped_column(String(20))
    read_method: Mapped[str | None] = mapped_column(String(40))
    wallet: Mapped[str | None] = mapped_column(String(30))
    emv: Mapped[dict[str, str]] = mapped_column(JsonValue, default=dict)
    last_error_code: Mapped[str | None] = mapped_column(String(60))
    decline_code: Mapped[str | None] = mapped_column(String(60))
    attempts: Mapped[int] = mapped_column(default=0)
    captured_amount: Mapped[int] = mapped_column(default=0)
    refunded_amount: Mapped[int] = mapped_column(default=0)
    description: Mapped[str] = mapped_column(String(1000), default="")
    client_metadata: Mapped[dict[str, str]] = mapped_column(JsonValue, default=dict)
    anomaly: Mapped[str | None] = mapped_column(String(60))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)
    captured_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    cancelled_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    next_check_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    checks: Mapped[int] = mapped_column(default=0)

    agent: Mapped[PosAgent] = relationship()
    location: Mapped[PosLocation] = relationship()


class PosTransactionEvent(Base):
    """An event of a transaction, for its timeline: what happened, by whom, and the status after it."""

    __tablename__ = "pos_transaction_events"
    __table_args__ = (Index(None, "transaction_id", "id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), index=True)
    transaction_id: Mapped[str] = mapped_column(ForeignKey("pos_transactions.id", ondelete="CASCADE"))
    at: Mapped[datetime] = mapped_column(UtcDateTime)
    actor: Mapped[str] = mapped_column(String(100))
    action: Mapped[str] = mapped_column(String(40))
    status: Mapped[str] = mapped_column(String(20))
    detail: Mapped[str] = mapped_column(String(300), default="")


class PosRefund(Base):
    """A refund, stored before the processor is called. Status: PENDING, SUCCEEDED, FAILED or UNKNOWN."""

    __tablename__ = "pos_refunds"
    __table_args__ = (
        UniqueConstraint("transaction_id", "processor_refund_id"),
        Index(None, "transaction_id", "created_at"),
        CheckConstraint("amount > 0", name="amount_positive"),
        CheckConstraint("status in ('PENDING', 'SUCCEEDED', 'FAILED', 'UNKNOWN')", name="status_known"),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), index=True)
    transaction_id: Mapped[str] = mapped_column(ForeignKey("pos_transactions.id", ondelete="CASCADE"))
    amount: Mapped[int] = mapped_column(Integer)
    reason: Mapped[str] = mapped_column(String(200))
    status: Mapped[str] = mapped_column(String(12))
    processor_refund_id: Mapped[str | None] = mapped_column(String(255))
    requested_by: Mapped[str] = mapped_column(String(100))
    error: Mapped[str | None] = mapped_column(String(200))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)
    next_check_at: Mapped[datetime | None] = mapped_column(UtcDateTime, index=True)
    checks: Mapped[int] = mapped_column(default=0)


class PosIdempotencyKey(Base):
    """A request that carried an Idempotency-Key, and the record that it made, so that a repetition gets the same
    answer. `operation` holds the location, too (`create_payment@7`). `key` is the SHA-256 of the key, `request_hash`
    that of the content. `status` is that of the answer, None while the first request is still being answered."""

    __tablename__ = "pos_idempotency_keys"
    __table_args__ = (UniqueConstraint("site_id", "user_id", "operation", "key"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    operation: Mapped[str] = mapped_column(String(40))
    key: Mapped[str] = mapped_column(String(255))
    request_hash: Mapped[str] = mapped_column(String(64))
    record_id: Mapped[str] = mapped_column(String(36))
    status: Mapped[int | None] = mapped_column(Integer)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    expires_at: Mapped[datetime] = mapped_column(UtcDateTime, index=True)


class StoredProcessorEvent(Base):
    """An event of the processor, stored once by its id before anything is done about it. `site_id` None: no site has
    the account. `outcome` is an EventOutcome, None while the event waits."""

    __tablename__ = "processor_events"
    __table_args__ = (
        UniqueConstraint("processor", "event_id"),
        Index(None, "intent_id"),
        Index(
            "ix_processor_events_waiting",
            "site_id",
            "received_at",
            sqlite_where=WAITING,
            postgresql_where=WAITING,
        ),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    site_id: Mapped[int | None] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), index=True)
    processor: Mapped[str] = mapped_column(String(20))
    event_id: Mapped[str] = mapped_column(String(255))
    account_id: Mapped[str] = mapped_column(String(255), default="")
    type: Mapped[str] = mapped_column(String(80))
    intent_id: Mapped[str | None] = mapped_column(String(255))
    received_at: Mapped[datetime] = mapped_column(UtcDateTime)
    processed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    outcome: Mapped[str | None] = mapped_column(String(40))
    attempts: Mapped[int] = mapped_column(default=0)
    error: Mapped[str | None] = mapped_column(Text)
    payload: Mapped[dict[str, Any]] = mapped_column(JsonValue, default=dict)


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


class PosReceiptMail(MailToSend, Base):
    """A receipt to be mailed. `link` leads to the receipt's page."""

    __tablename__ = "pos_receipt_mails"
    __table_args__ = (Index(None, "transaction_id", "created_at"), Index(None, "state", "next_try_at"), state_known())

    transaction_id: Mapped[str] = mapped_column(ForeignKey("pos_transactions.id", ondelete="CASCADE"))
    link: Mapped[str] = mapped_column(String(500))


class PosJournalMail(MailToSend, Base):
    """A mail that names the head of the journal after a Z report: the sequence and the hash of its entry."""

    __tablename__ = "pos_journal_mails"
    __table_args__ = (Index(None, "state", "next_try_at"), state_known())

    sequence: Mapped[int] = mapped_column(Integer)
    hash: Mapped[str] = mapped_column(String(64))


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
