"""Payments at the till, refunds and receipts

Revision: 5be23c1c2b11
Follows: 5f4b29233e9b
Date: 2026-11-24 19:13:00.000000+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "5be23c1c2b11"
down_revision = "5f4b29233e9b"
branch_labels = None
depends_on = None

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "pos_transactions",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("agent_id", sa.Integer(), nullable=False),
        sa.Column("location_id", sa.Integer(), nullable=False),
        sa.Column("session_id", sa.String(length=36), nullable=True),
        sa.Column("type", sa.String(length=16), nullable=False),
        sa.Column("order_id", sa.String(length=36), nullable=True),
        sa.Column("order_number", sa.String(length=20), nullable=True),
        sa.Column("amount_in_pence", sa.Integer(), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("processor", sa.String(length=20), nullable=False),
        sa.Column("processor_account_id", sa.String(length=255), nullable=False),
        sa.Column("processor_intent_id", sa.String(length=255), nullable=True),
        sa.Column("processor_charge_id", sa.String(length=255), nullable=True),
        sa.Column("card_brand", sa.String(length=30), nullable=True),
        sa.Column("card_last4", sa.String(length=4), nullable=True),
        sa.Column("funding", sa.String(length=20), nullable=True),
        sa.Column("read_method", sa.String(length=40), nullable=True),
        sa.Column("wallet", sa.String(length=30), nullable=True),
        sa.Column("emv", JSON, nullable=False),
        sa.Column("last_error_code", sa.String(length=60), nullable=True),
        sa.Column("decline_code", sa.String(length=60), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("captured_amount", sa.Integer(), nullable=False),
        sa.Column("refunded_amount", sa.Integer(), nullable=False),
        sa.Column("description", sa.String(length=1000), nullable=False),
        sa.Column("client_metadata", JSON, nullable=False),
        sa.Column("anomaly", sa.String(length=60), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("captured_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("cancelled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("next_check_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("checks", sa.Integer(), nullable=False),
        sa.CheckConstraint(
            "status in ('CREATING', 'PENDING', 'PROCESSING', 'AUTHORIZED', 'SUCCEEDED', 'CANCELLED', 'FAILED', 'UNKNOWN', 'PARTIALLY_REFUNDED', 'REFUNDED')",
            name=op.f("ck_pos_transactions_status_known"),
        ),
        sa.CheckConstraint("type in ('QUICK_PAYMENT', 'ORDER_PAYMENT')", name=op.f("ck_pos_transactions_type_known")),
        sa.CheckConstraint("amount_in_pence > 0", name=op.f("ck_pos_transactions_amount_positive")),
        sa.CheckConstraint(
            "captured_amount >= 0 and refunded_amount >= 0", name=op.f("ck_pos_transactions_amounts_known")
        ),
        sa.ForeignKeyConstraint(["agent_id"], ["pos_agents.id"], name=op.f("fk_pos_transactions_agent_id_pos_agents")),
        sa.ForeignKeyConstraint(
            ["location_id"], ["pos_locations.id"], name=op.f("fk_pos_transactions_location_id_pos_locations")
        ),
        sa.ForeignKeyConstraint(
            ["order_id"], ["orders.id"], name=op.f("fk_pos_transactions_order_id_orders"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["session_id"],
            ["pos_sessions.id"],
            name=op.f("fk_pos_transactions_session_id_pos_sessions"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_pos_transactions_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pos_transactions")),
        sa.UniqueConstraint(
            "processor",
            "processor_account_id",
            "processor_intent_id",
            name=op.f("uq_pos_transactions_processor_processor_account_id_processor_intent_id"),
        ),
    )
    op.create_index(
        op.f("ix_pos_transactions_agent_id_created_at_id"),
        "pos_transactions",
        ["agent_id", "created_at", "id"],
        unique=False,
    )
    op.create_index(
        "ix_pos_transactions_attention",
        "pos_transactions",
        ["site_id"],
        unique=False,
        sqlite_where=sa.text("(anomaly is not null or status = 'UNKNOWN')"),
        postgresql_where=sa.text("(anomaly is not null or status = 'UNKNOWN')"),
    )
    op.create_index(
        op.f("ix_pos_transactions_next_check_at"),
        "pos_transactions",
        ["next_check_at"],
        unique=False,
        sqlite_where=sa.text("next_check_at is not null"),
        postgresql_where=sa.text("next_check_at is not null"),
    )
    op.create_index(op.f("ix_pos_transactions_order_id"), "pos_transactions", ["order_id"], unique=False)
    op.create_index(op.f("ix_pos_transactions_session_id"), "pos_transactions", ["session_id"], unique=False)
    op.create_index(
        op.f("ix_pos_transactions_site_id_created_at_id"),
        "pos_transactions",
        ["site_id", "created_at", "id"],
        unique=False,
    )
    op.create_index(
        op.f("ix_pos_transactions_site_id_location_id"), "pos_transactions", ["site_id", "location_id"], unique=False
    )
    op.create_index(
        op.f("ix_pos_transactions_site_id_location_id_created_at_id"),
        "pos_transactions",
        ["site_id", "location_id", "created_at", "id"],
        unique=False,
    )
    op.create_index(
        op.f("ix_pos_transactions_site_id_processor_intent_id_location_id"),
        "pos_transactions",
        ["site_id", "processor_intent_id", "location_id"],
        unique=False,
    )
    op.create_index(
        "uq_pos_transactions_open_of_order",
        "pos_transactions",
        ["order_id"],
        unique=True,
        sqlite_where=sa.text("status in ('AUTHORIZED', 'CREATING', 'PENDING', 'PROCESSING', 'UNKNOWN')"),
        postgresql_where=sa.text("status in ('AUTHORIZED', 'CREATING', 'PENDING', 'PROCESSING', 'UNKNOWN')"),
    )
    op.create_table(
        "pos_ledger_differences",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.String(length=255), nullable=False),
        sa.Column("intent_id", sa.String(length=255), nullable=False),
        sa.Column("transaction_id", sa.String(length=36), nullable=True),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("ours", sa.String(length=100), nullable=False),
        sa.Column("theirs", sa.String(length=100), nullable=False),
        sa.Column("corrected", sa.Boolean(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("found_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("settled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("settled_by", sa.String(length=100), nullable=True),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_pos_ledger_differences_site_id_sites"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["transaction_id"],
            ["pos_transactions.id"],
            name=op.f("fk_pos_ledger_differences_transaction_id_pos_transactions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pos_ledger_differences")),
    )
    op.create_index(
        op.f("ix_pos_ledger_differences_transaction_id"), "pos_ledger_differences", ["transaction_id"], unique=False
    )
    op.create_index(
        "uq_pos_ledger_differences_unsettled",
        "pos_ledger_differences",
        ["site_id", "intent_id", "kind"],
        unique=True,
        sqlite_where=sa.text("settled_at is null"),
        postgresql_where=sa.text("settled_at is null"),
    )
    op.create_table(
        "pos_receipt_mails",
        sa.Column("transaction_id", sa.String(length=36), nullable=False),
        sa.Column("link", sa.String(length=500), nullable=False),
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("email", sa.String(length=254), nullable=True),
        sa.Column("next_try_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("requested_by", sa.String(length=100), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "state in ('waiting', 'running', 'done', 'failed')", name=op.f("ck_pos_receipt_mails_state_known")
        ),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_pos_receipt_mails_site_id_sites"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["transaction_id"],
            ["pos_transactions.id"],
            name=op.f("fk_pos_receipt_mails_transaction_id_pos_transactions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pos_receipt_mails")),
    )
    op.create_index(
        op.f("ix_pos_receipt_mails_state_next_try_at"), "pos_receipt_mails", ["state", "next_try_at"], unique=False
    )
    op.create_index(
        op.f("ix_pos_receipt_mails_transaction_id_created_at"),
        "pos_receipt_mails",
        ["transaction_id", "created_at"],
        unique=False,
    )
    op.create_table(
        "pos_refunds",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("transaction_id", sa.String(length=36), nullable=False),
        sa.Column("amount", sa.Integer(), nullable=False),
        sa.Column("reason", sa.String(length=200), nullable=False),
        sa.Column("status", sa.String(length=12), nullable=False),
        sa.Column("processor_refund_id", sa.String(length=255), nullable=True),
        sa.Column("requested_by", sa.String(length=100), nullable=False),
        sa.Column("error", sa.String(length=200), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("next_check_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("checks", sa.Integer(), nullable=False),
        sa.CheckConstraint(
            "status in ('PENDING', 'SUCCEEDED', 'FAILED', 'UNKNOWN')", name=op.f("ck_pos_refunds_status_known")
        ),
        sa.CheckConstraint("amount > 0", name=op.f("ck_pos_refunds_amount_positive")),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_pos_refunds_site_id_sites"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["transaction_id"],
            ["pos_transactions.id"],
            name=op.f("fk_pos_refunds_transaction_id_pos_transactions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pos_refunds")),
        sa.UniqueConstraint(
            "transaction_id", "processor_refund_id", name=op.f("uq_pos_refunds_transaction_id_processor_refund_id")
        ),
    )
    op.create_index(op.f("ix_pos_refunds_next_check_at"), "pos_refunds", ["next_check_at"], unique=False)
    op.create_index(op.f("ix_pos_refunds_site_id"), "pos_refunds", ["site_id"], unique=False)
    op.create_index(
        op.f("ix_pos_refunds_transaction_id_created_at"), "pos_refunds", ["transaction_id", "created_at"], unique=False
    )
    op.create_table(
        "pos_transaction_events",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("transaction_id", sa.String(length=36), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor", sa.String(length=100), nullable=False),
        sa.Column("action", sa.String(length=40), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("detail", sa.String(length=300), nullable=False),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_pos_transaction_events_site_id_sites"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["transaction_id"],
            ["pos_transactions.id"],
            name=op.f("fk_pos_transaction_events_transaction_id_pos_transactions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pos_transaction_events")),
    )
    op.create_index(op.f("ix_pos_transaction_events_site_id"), "pos_transaction_events", ["site_id"], unique=False)
    op.create_index(
        op.f("ix_pos_transaction_events_transaction_id_id"),
        "pos_transaction_events",
        ["transaction_id", "id"],
        unique=False,
    )


def downgrade() -> None:
    op.drop_table("pos_transaction_events")
    op.drop_table("pos_refunds")
    op.drop_table("pos_receipt_mails")
    op.drop_table("pos_ledger_differences")
    op.drop_table("pos_transactions")
