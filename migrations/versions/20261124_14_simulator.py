"""The payment simulator

Revision: 912359e67f5c
Follows: 5be23c1c2b11
Date: 2026-11-24 19:14:00.000000+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "912359e67f5c"
down_revision = "5be23c1c2b11"
branch_labels = None
depends_on = None

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "simulator_events",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_simulator_events")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_simulator_events_due_at"), "simulator_events", ["due_at"], unique=False)
    op.create_table(
        "simulator_intents",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("account_id", sa.String(length=255), nullable=False),
        sa.Column("amount", sa.Integer(), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("description", sa.String(length=1000), nullable=False),
        sa.Column("metadata", JSON, nullable=False),
        sa.Column("status", sa.String(length=30), nullable=False),
        sa.Column("settles_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("card", sa.String(length=30), nullable=True),
        sa.Column("has_pin", sa.Boolean(), nullable=False),
        sa.Column("charge_id", sa.String(length=64), nullable=True),
        sa.Column("error_code", sa.String(length=60), nullable=True),
        sa.Column("decline_code", sa.String(length=60), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_simulator_intents")),
    )
    op.create_index(
        op.f("ix_simulator_intents_account_id_created_at"),
        "simulator_intents",
        ["account_id", "created_at"],
        unique=False,
    )
    op.create_table(
        "simulator_keys",
        sa.Column("account_id", sa.String(length=255), nullable=False),
        sa.Column("key", sa.String(length=255), nullable=False),
        sa.Column("request_hash", sa.String(length=64), nullable=False),
        sa.Column("answer", JSON, nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("account_id", "key", name=op.f("pk_simulator_keys")),
    )
    op.create_index(op.f("ix_simulator_keys_expires_at"), "simulator_keys", ["expires_at"], unique=False)
    op.create_table(
        "simulator_locations",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("account_id", sa.String(length=255), nullable=False),
        sa.Column("display_name", sa.String(length=1000), nullable=False),
        sa.Column("address", JSON, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_simulator_locations")),
    )
    op.create_table(
        "simulator_refunds",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("account_id", sa.String(length=255), nullable=False),
        sa.Column("intent_id", sa.String(length=64), nullable=False),
        sa.Column("amount", sa.Integer(), nullable=False),
        sa.Column("metadata", JSON, server_default="{}", nullable=False),
        sa.Column("fails_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["intent_id"],
            ["simulator_intents.id"],
            name=op.f("fk_simulator_refunds_intent_id_simulator_intents"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_simulator_refunds")),
    )
    op.create_index(op.f("ix_simulator_refunds_intent_id"), "simulator_refunds", ["intent_id"], unique=False)


def downgrade() -> None:
    op.drop_table("simulator_refunds")
    op.drop_table("simulator_locations")
    op.drop_table("simulator_keys")
    op.drop_table("simulator_intents")
    op.drop_table("simulator_events")
