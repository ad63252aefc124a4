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
    case,
    false,
    text,
    true,
)
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.domain.pos.processor import Address
from app.domain.pos.receipt_printer import LONGEST_ADDRESS
from app.domain.pos.rules import LocationFields
from app.domain.pos.states import TransactionStatus
from app.domain.shared.records import NEVER_REUSED, JsonValue, UtcDateTime
from app.domain.work.mailing import MailToSend
from app.domain.work.models import LeasedWork, state_known
from app.extensions import Base

ATTENTION = text("(anomaly is not null or status = 'UNKNOWN')")  # Payments that staff must look at.
WAITING = text("processed_at is null")
MONEY_SUM = BigInteger  # Totals over many payments may exceed 32 bits; sums are cast to this.
STATUSES = ", ".join(repr(str(status)) for status in TransactionStatus)
TENDERS = "tender_type in ('CARD', 'CASH')"
UNSETTLED = text("settled_at is null")
UNFINISHED = text("state in ('waiting', 'running')")


class PosLocation(Base):
    """A place where payments are taken. `location_id` is the processor's id of the location, which every client uses.
    `processor_account_id` None: the account of the site's setting. `last_z_number` is the number of the latest Z report
    of a work session that was opened here. `printer_address` is that of the network printer, as in
    `printer.example:9100`, empty for none; it is of this place's network, so bundles leave it out."""

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
    printer_address: Mapped[str] = mapped_column(String(LONGEST_ADDRESS), default="", server_default="")
    last_z_number: Mapped[int] = mapped_column(default=0, server_default="0")
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
    can_take_cash: Mapped[bool] = mapped_column(default=True, server_default=true())
    can_move_cash: Mapped[bool] = mapped_column(default=False, server_default=false())
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
    sooner. `location_id` is where it was used last, `opened_location_id` where it was used first: its Z report counts
    there. Money in minor units. `z_report` are the figures of the Z report as they were when the session was closed,
    `journal_head` the hash of the journal's entry about it."""

    __tablename__ = "pos_sessions"
    __table_args__ = (Index(None, "site_id", "started_at"), UniqueConstraint("opened_location_id", "z_number"))

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
    opened_location_id: Mapped[int | None] = mapped_column(ForeignKey("pos_locations.id", ondelete="SET NULL"))
    z_number: Mapped[int | None] = mapped_column(Integer)
    z_report: Mapped[dict[str, Any] | None] = mapped_column(JsonValue)
    journal_head: Mapped[str | None] = mapped_column(String(64))


class PosTransaction(Base):
    """A payment by card or in cash; one by card is stored before the processor is called. `version` rises with every
    transition, which is made by compare and set. `next_check_at` is the time of its next check against the processor,
    None for none; `checks` counts the checks since its last change. `processor_account_id` "" is the platform's own
    account; cash has the processor "".

    `amount_in_pence` is what is paid of the sale. A card is asked for the tip besides, which `captured_amount` includes
    once it was taken. Of cash, `captured_amount` is the amount, `rounding_in_pence` what the drawer got more (or less)
    than that. `refunded_amount` is what was given back in all, `refunded_in_cash` the part of it in cash. `is_surplus`:
    the order was paid already, so that this money is none of what was paid for it. `notes` are what staff should know
    of a sale that was made without a network, each with `code` and `detail`."""

    __tablename__ = "pos_transactions"
    __table_args__ = (
        UniqueConstraint("processor", "processor_account_id", "processor_intent_id"),
        UniqueConstraint("site_id", "client_sale_id"),
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
        CheckConstraint(TENDERS, name="tender_known"),
        CheckConstraint(
            "tip_in_pence >= 0 and refunded_in_cash >= 0 and refunded_in_cash <= refunded_amount", name="parts_known"
        ),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"))
    agent_id: Mapped[int] = mapped_column(ForeignKey("pos_agents.id"))
    location_id: Mapped[int] = mapped_column(ForeignKey("pos_locations.id"))
    session_id: Mapped[str | None] = mapped_column(ForeignKey("pos_sessions.id", ondelete="SET NULL"))
    type: Mapped[str] = mapped_column(String(16))
    order_id: Mapped[str | None] = mapped_column(ForeignKey("orders.id", ondelete="SET NULL"))
    order_number: Mapped[str | None] = mapped_column(String(20))
    tender_type: Mapped[str] = mapped_column(String(4), default="CARD", server_default="CARD")
    amount_in_pence: Mapped[int] = mapped_column(Integer)
    tip_in_pence: Mapped[int] = mapped_column(default=0, server_default="0")
    change_in_pence: Mapped[int | None] = mapped_column(Integer)
    rounding_in_pence: Mapped[int | None] = mapped_column(Integer)
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
    refunded_in_cash: Mapped[int] = mapped_column(default=0, server_default="0")
    is_surplus: Mapped[bool] = mapped_column(default=False, server_default=false())
    client_sale_id: Mapped[str | None] = mapped_column(String(36))
    notes: Mapped[list[dict[str, str]]] = mapped_column(JsonValue, default=list, server_default="[]")
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

    @property
    def charged_amount(self) -> int:
        """The amount that the card is asked for, in minor units: with the tip."""
        return self.amount_in_pence + self.tip_in_pence

    @property
    def refunded_to_card(self) -> int:
        return self.refunded_amount - self.refunded_in_cash

    @property
    def moved_cash(self) -> int:
        """The cash that the drawer got for the payment, in minor units: with the rounding."""
        return self.amount_in_pence + (self.rounding_in_pence or 0)


# The tip that was taken: none of a payment that was not captured, and never more than was.
TAKEN_TIP = case(
    (PosTransaction.captured_amount > PosTransaction.tip_in_pence, PosTransaction.tip_in_pence),
    else_=PosTransaction.captured_amount,
)


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
    """A refund; one to the card is stored before the processor is called. Status: PENDING, SUCCEEDED, FAILED or
    UNKNOWN. `session_id` is the work session that made it, None for staff in the admin and at the processor. Of cash,
    `rounding` is what the drawer gave more (or less) than `amount`."""

    __tablename__ = "pos_refunds"
    __table_args__ = (
        UniqueConstraint("transaction_id", "processor_refund_id"),
        Index(None, "transaction_id", "created_at"),
        CheckConstraint("amount > 0", name="amount_positive"),
        CheckConstraint("status in ('PENDING', 'SUCCEEDED', 'FAILED', 'UNKNOWN')", name="status_known"),
        CheckConstraint(TENDERS, name="tender_known"),
        Index(None, "session_id"),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), index=True)
    transaction_id: Mapped[str] = mapped_column(ForeignKey("pos_transactions.id", ondelete="CASCADE"))
    session_id: Mapped[str | None] = mapped_column(ForeignKey("pos_sessions.id", ondelete="SET NULL"))
    tender_type: Mapped[str] = mapped_column(String(4), default="CARD", server_default="CARD")
    amount: Mapped[int] = mapped_column(Integer)
    rounding: Mapped[int] = mapped_column(default=0, server_default="0")
    reason: Mapped[str] = mapped_column(String(200))
    status: Mapped[str] = mapped_column(String(12))
    processor_refund_id: Mapped[str | None] = mapped_column(String(255))
    requested_by: Mapped[str] = mapped_column(String(100))
    error: Mapped[str | None] = mapped_column(String(200))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)
    next_check_at: Mapped[datetime | None] = mapped_column(UtcDateTime, index=True)
    checks: Mapped[int] = mapped_column(default=0)


class PosCashMovement(Base):
    """Cash that was put into a drawer or taken out of it other than by a payment. `amount` in minor units, always
    positive: `type` says which way. `agent_id` None is an admin who is no agent."""

    __tablename__ = "pos_cash_movements"
    __table_args__ = (
        Index(None, "site_id", "location_id", "created_at", "id"),
        Index(None, "session_id"),
        CheckConstraint("type in ('PAY_IN', 'PAY_OUT', 'DROP')", name="type_known"),
        CheckConstraint("amount > 0", name="amount_positive"),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"))
    location_id: Mapped[int] = mapped_column(ForeignKey("pos_locations.id"))
    session_id: Mapped[str | None] = mapped_column(ForeignKey("pos_sessions.id", ondelete="SET NULL"))
    agent_id: Mapped[int | None] = mapped_column(ForeignKey("pos_agents.id"))
    type: Mapped[str] = mapped_column(String(8))
    amount: Mapped[int] = mapped_column(Integer)
    reason: Mapped[str] = mapped_column(String(200))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)

    agent: Mapped[PosAgent | None] = relationship()


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
