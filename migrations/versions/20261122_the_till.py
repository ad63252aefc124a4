"""The till: locations, agents, payments, refunds, and what orders know of them

Revision: 5b1f3ce7a920
Follows: c40d9e6fb815
Date: 2026-11-22 16:43:01.283688+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "5b1f3ce7a920"
down_revision = "c40d9e6fb815"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "pos_agents",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("display_name", sa.String(length=100), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("can_process_quick_payments", sa.Boolean(), nullable=False),
        sa.Column("can_build_orders", sa.Boolean(), nullable=False),
        sa.Column("can_refund", sa.Boolean(), nullable=False),
        sa.Column("can_discount", sa.Boolean(), nullable=False),
        sa.Column("max_transaction_amount", sa.Integer(), nullable=True),
        sa.Column("disabled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("disabled_by", sa.String(length=100), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "max_transaction_amount is null or max_transaction_amount > 0", name=op.f("ck_pos_agents_limit_positive")
        ),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_pos_agents_site_id_sites"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_pos_agents_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pos_agents")),
        sa.UniqueConstraint("site_id", "user_id", name=op.f("uq_pos_agents_site_id_user_id")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("pos_agents", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_pos_agents_user_id"), ["user_id"], unique=False)

    op.create_table(
        "pos_idempotency_keys",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("operation", sa.String(length=40), nullable=False),
        sa.Column("key", sa.String(length=255), nullable=False),
        sa.Column("request_hash", sa.String(length=64), nullable=False),
        sa.Column("record_id", sa.String(length=36), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column(
            "body",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=True,
        ),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_pos_idempotency_keys_site_id_sites"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_pos_idempotency_keys_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pos_idempotency_keys")),
        sa.UniqueConstraint(
            "site_id", "user_id", "operation", "key", name=op.f("uq_pos_idempotency_keys_site_id_user_id_operation_key")
        ),
    )
    with op.batch_alter_table("pos_idempotency_keys", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_pos_idempotency_keys_expires_at"), ["expires_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_pos_idempotency_keys_user_id"), ["user_id"], unique=False)

    op.create_table(
        "pos_locations",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("location_id", sa.String(length=255), nullable=False),
        sa.Column("display_name", sa.String(length=100), nullable=False),
        sa.Column("line1", sa.String(length=200), nullable=False),
        sa.Column("line2", sa.String(length=200), nullable=False),
        sa.Column("city", sa.String(length=100), nullable=False),
        sa.Column("state", sa.String(length=100), nullable=False),
        sa.Column("postal_code", sa.String(length=20), nullable=False),
        sa.Column("country", sa.String(length=2), nullable=False),
        sa.Column("processor_account_id", sa.String(length=255), nullable=True),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_pos_locations_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pos_locations")),
        sa.UniqueConstraint("site_id", "location_id", name=op.f("uq_pos_locations_site_id_location_id")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "processor_events",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=True),
        sa.Column("processor", sa.String(length=20), nullable=False),
        sa.Column("event_id", sa.String(length=255), nullable=False),
        sa.Column("account_id", sa.String(length=255), nullable=False),
        sa.Column("type", sa.String(length=80), nullable=False),
        sa.Column("intent_id", sa.String(length=255), nullable=True),
        sa.Column("received_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("processed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("outcome", sa.String(length=40), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column(
            "payload",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=False,
        ),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_processor_events_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_processor_events")),
        sa.UniqueConstraint("processor", "event_id", name=op.f("uq_processor_events_processor_event_id")),
    )
    with op.batch_alter_table("processor_events", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_processor_events_intent_id"), ["intent_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_processor_events_site_id"), ["site_id"], unique=False)

    op.create_table(
        "pos_agent_locations",
        sa.Column("agent_id", sa.Integer(), nullable=False),
        sa.Column("location_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["agent_id"], ["pos_agents.id"], name=op.f("fk_pos_agent_locations_agent_id_pos_agents"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["location_id"],
            ["pos_locations.id"],
            name=op.f("fk_pos_agent_locations_location_id_pos_locations"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("agent_id", "location_id", name=op.f("pk_pos_agent_locations")),
    )
    with op.batch_alter_table("pos_agent_locations", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_pos_agent_locations_location_id"), ["location_id"], unique=False)

    op.create_table(
        "pos_sessions",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("agent_id", sa.Integer(), nullable=True),
        sa.Column("location_id", sa.Integer(), nullable=True),
        sa.Column("device_id", sa.String(length=100), nullable=True),
        sa.Column("device_name", sa.String(length=100), nullable=True),
        sa.Column("user_agent", sa.String(length=200), nullable=False),
        sa.Column("ip", sa.String(length=64), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("end_reason", sa.String(length=20), nullable=True),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("opening_float", sa.Integer(), nullable=True),
        sa.Column("counted_cash", sa.Integer(), nullable=True),
        sa.Column("closing_note", sa.String(length=500), nullable=False),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["agent_id"], ["pos_agents.id"], name=op.f("fk_pos_sessions_agent_id_pos_agents"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["location_id"],
            ["pos_locations.id"],
            name=op.f("fk_pos_sessions_location_id_pos_locations"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_pos_sessions_site_id_sites"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_pos_sessions_user_id_users"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pos_sessions")),
    )
    with op.batch_alter_table("pos_sessions", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_pos_sessions_agent_id"), ["agent_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_pos_sessions_location_id"), ["location_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_pos_sessions_site_id_started_at"), ["site_id", "started_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_pos_sessions_user_id"), ["user_id"], unique=False)

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
        sa.Column(
            "emv",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=False,
        ),
        sa.Column("last_error_code", sa.String(length=60), nullable=True),
        sa.Column("decline_code", sa.String(length=60), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("captured_amount", sa.Integer(), nullable=False),
        sa.Column("refunded_amount", sa.Integer(), nullable=False),
        sa.Column("description", sa.String(length=1000), nullable=False),
        sa.Column(
            "client_metadata",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=False,
        ),
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
    with op.batch_alter_table("pos_transactions", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_pos_transactions_agent_id_created_at_id"), ["agent_id", "created_at", "id"], unique=False
        )
        batch_op.create_index(
            batch_op.f("ix_pos_transactions_location_id_created_at_id"),
            ["location_id", "created_at", "id"],
            unique=False,
        )
        batch_op.create_index(
            batch_op.f("ix_pos_transactions_next_check_at"),
            ["next_check_at"],
            unique=False,
            sqlite_where=sa.text("next_check_at is not null"),
            postgresql_where=sa.text("next_check_at is not null"),
        )
        batch_op.create_index(batch_op.f("ix_pos_transactions_session_id"), ["session_id"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_pos_transactions_site_id_created_at_id"), ["site_id", "created_at", "id"], unique=False
        )
        batch_op.create_index(
            "uq_pos_transactions_open_of_order",
            ["order_id"],
            unique=True,
            sqlite_where=sa.text("status in ('AUTHORIZED', 'CREATING', 'PENDING', 'PROCESSING', 'UNKNOWN')"),
            postgresql_where=sa.text("status in ('AUTHORIZED', 'CREATING', 'PENDING', 'PROCESSING', 'UNKNOWN')"),
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
    with op.batch_alter_table("pos_refunds", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_pos_refunds_next_check_at"), ["next_check_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_pos_refunds_site_id"), ["site_id"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_pos_refunds_transaction_id_created_at"), ["transaction_id", "created_at"], unique=False
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
    with op.batch_alter_table("pos_transaction_events", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_pos_transaction_events_site_id"), ["site_id"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_pos_transaction_events_transaction_id_id"), ["transaction_id", "id"], unique=False
        )

    with op.batch_alter_table("orders", schema=None) as batch_op:
        batch_op.add_column(sa.Column("discount", sa.Integer(), server_default="0", nullable=False))
        batch_op.add_column(sa.Column("tax", sa.Integer(), server_default="0", nullable=False))
        batch_op.add_column(sa.Column("owner_id", sa.Integer(), nullable=True))
        batch_op.add_column(sa.Column("pos_location_id", sa.String(length=255), nullable=True))
        batch_op.add_column(sa.Column("payment_lock", sa.String(length=36), nullable=True))
        batch_op.add_column(sa.Column("paid_amount", sa.Integer(), server_default="0", nullable=False))
        batch_op.add_column(sa.Column("paid_at", sa.DateTime(timezone=True), nullable=True))
        batch_op.add_column(sa.Column("fulfilled_at", sa.DateTime(timezone=True), nullable=True))
        batch_op.create_check_constraint(
            batch_op.f("ck_orders_amounts_known"), "discount >= 0 and tax >= 0 and paid_amount >= 0"
        )
        batch_op.create_index(batch_op.f("ix_orders_owner_id"), ["owner_id"], unique=False)
        batch_op.create_foreign_key(
            batch_op.f("fk_orders_owner_id_users"), "users", ["owner_id"], ["id"], ondelete="SET NULL"
        )


def downgrade() -> None:
    with op.batch_alter_table("orders", schema=None) as batch_op:
        batch_op.drop_constraint(batch_op.f("fk_orders_owner_id_users"), type_="foreignkey")
        batch_op.drop_constraint(batch_op.f("ck_orders_amounts_known"), type_="check")
        batch_op.drop_index(batch_op.f("ix_orders_owner_id"))
        batch_op.drop_column("fulfilled_at")
        batch_op.drop_column("paid_at")
        batch_op.drop_column("paid_amount")
        batch_op.drop_column("payment_lock")
        batch_op.drop_column("pos_location_id")
        batch_op.drop_column("owner_id")
        batch_op.drop_column("tax")
        batch_op.drop_column("discount")

    with op.batch_alter_table("pos_transaction_events", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_pos_transaction_events_transaction_id_id"))
        batch_op.drop_index(batch_op.f("ix_pos_transaction_events_site_id"))

    op.drop_table("pos_transaction_events")
    with op.batch_alter_table("pos_refunds", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_pos_refunds_transaction_id_created_at"))
        batch_op.drop_index(batch_op.f("ix_pos_refunds_site_id"))
        batch_op.drop_index(batch_op.f("ix_pos_refunds_next_check_at"))

    op.drop_table("pos_refunds")
    with op.batch_alter_table("pos_transactions", schema=None) as batch_op:
        batch_op.drop_index(
            "uq_pos_transactions_open_of_order",
            sqlite_where=sa.text("status in ('AUTHORIZED', 'CREATING', 'PENDING', 'PROCESSING', 'UNKNOWN')"),
            postgresql_where=sa.text("status in ('AUTHORIZED', 'CREATING', 'PENDING', 'PROCESSING', 'UNKNOWN')"),
        )
        batch_op.drop_index(batch_op.f("ix_pos_transactions_site_id_created_at_id"))
        batch_op.drop_index(batch_op.f("ix_pos_transactions_session_id"))
        batch_op.drop_index(
            batch_op.f("ix_pos_transactions_next_check_at"),
            sqlite_where=sa.text("next_check_at is not null"),
            postgresql_where=sa.text("next_check_at is not null"),
        )
        batch_op.drop_index(batch_op.f("ix_pos_transactions_location_id_created_at_id"))
        batch_op.drop_index(batch_op.f("ix_pos_transactions_agent_id_created_at_id"))

    op.drop_table("pos_transactions")
    with op.batch_alter_table("pos_sessions", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_pos_sessions_user_id"))
        batch_op.drop_index(batch_op.f("ix_pos_sessions_site_id_started_at"))
        batch_op.drop_index(batch_op.f("ix_pos_sessions_location_id"))
        batch_op.drop_index(batch_op.f("ix_pos_sessions_agent_id"))

    op.drop_table("pos_sessions")
    with op.batch_alter_table("pos_agent_locations", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_pos_agent_locations_location_id"))

    op.drop_table("pos_agent_locations")
    with op.batch_alter_table("processor_events", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_processor_events_site_id"))
        batch_op.drop_index(batch_op.f("ix_processor_events_intent_id"))

    op.drop_table("processor_events")
    op.drop_table("pos_locations")
    with op.batch_alter_table("pos_idempotency_keys", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_pos_idempotency_keys_user_id"))
        batch_op.drop_index(batch_op.f("ix_pos_idempotency_keys_expires_at"))

    op.drop_table("pos_idempotency_keys")
    with op.batch_alter_table("pos_agents", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_pos_agents_user_id"))

    op.drop_table("pos_agents")
