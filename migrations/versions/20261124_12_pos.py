"""The till: locations, agents and sessions

Revision: 5f4b29233e9b
Follows: bf57dd2772d3
Date: 2026-11-24 19:12:00.000000+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "5f4b29233e9b"
down_revision = "bf57dd2772d3"
branch_labels = None
depends_on = None

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


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
    op.create_index(op.f("ix_pos_agents_user_id"), "pos_agents", ["user_id"], unique=False)
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
    op.create_index(op.f("ix_pos_idempotency_keys_expires_at"), "pos_idempotency_keys", ["expires_at"], unique=False)
    op.create_index(op.f("ix_pos_idempotency_keys_user_id"), "pos_idempotency_keys", ["user_id"], unique=False)
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
        "pos_payment_checks",
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("failed", sa.Integer(), nullable=False),
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
            "state in ('waiting', 'running', 'done', 'failed')", name=op.f("ck_pos_payment_checks_state_known")
        ),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_pos_payment_checks_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("site_id", name=op.f("pk_pos_payment_checks")),
    )
    op.create_table(
        "pos_reconciliations",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("differences", sa.Integer(), nullable=False),
        sa.Column("foreign", sa.Integer(), nullable=False),
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
            "state in ('waiting', 'running', 'done', 'failed')", name=op.f("ck_pos_reconciliations_state_known")
        ),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_pos_reconciliations_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pos_reconciliations")),
    )
    op.create_index(
        op.f("ix_pos_reconciliations_site_id_created_at"),
        "pos_reconciliations",
        ["site_id", "created_at"],
        unique=False,
    )
    op.create_index(
        "uq_pos_reconciliations_unfinished",
        "pos_reconciliations",
        ["site_id"],
        unique=True,
        sqlite_where=sa.text("state in ('waiting', 'running')"),
        postgresql_where=sa.text("state in ('waiting', 'running')"),
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
        sa.Column("payload", JSON, nullable=False),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_processor_events_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_processor_events")),
        sa.UniqueConstraint("processor", "event_id", name=op.f("uq_processor_events_processor_event_id")),
    )
    op.create_index(op.f("ix_processor_events_intent_id"), "processor_events", ["intent_id"], unique=False)
    op.create_index(op.f("ix_processor_events_site_id"), "processor_events", ["site_id"], unique=False)
    op.create_index(
        "ix_processor_events_waiting",
        "processor_events",
        ["site_id", "received_at"],
        unique=False,
        sqlite_where=sa.text("processed_at is null"),
        postgresql_where=sa.text("processed_at is null"),
    )
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
    op.create_index(op.f("ix_pos_agent_locations_location_id"), "pos_agent_locations", ["location_id"], unique=False)
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
    op.create_index(op.f("ix_pos_sessions_agent_id"), "pos_sessions", ["agent_id"], unique=False)
    op.create_index(op.f("ix_pos_sessions_location_id"), "pos_sessions", ["location_id"], unique=False)
    op.create_index(op.f("ix_pos_sessions_site_id_started_at"), "pos_sessions", ["site_id", "started_at"], unique=False)
    op.create_index(op.f("ix_pos_sessions_user_id"), "pos_sessions", ["user_id"], unique=False)


def downgrade() -> None:
    op.drop_table("pos_sessions")
    op.drop_table("pos_agent_locations")
    op.drop_table("processor_events")
    op.drop_table("pos_reconciliations")
    op.drop_table("pos_payment_checks")
    op.drop_table("pos_locations")
    op.drop_table("pos_idempotency_keys")
    op.drop_table("pos_agents")
