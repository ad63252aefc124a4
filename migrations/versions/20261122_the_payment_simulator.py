"""The payment simulator: what it keeps as another system

Revision: 21098470e6d8
Follows: 8d2a6f417be3
Date: 2026-11-22 17:04:43.752783+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "21098470e6d8"
down_revision = "8d2a6f417be3"
branch_labels = None
depends_on = None


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
    with op.batch_alter_table("simulator_events", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_simulator_events_due_at"), ["due_at"], unique=False)

    op.create_table(
        "simulator_intents",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("account_id", sa.String(length=255), nullable=False),
        sa.Column("amount", sa.Integer(), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("description", sa.String(length=1000), nullable=False),
        sa.Column(
            "metadata",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=False,
        ),
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
    with op.batch_alter_table("simulator_intents", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_simulator_intents_account_id_created_at"), ["account_id", "created_at"], unique=False
        )

    op.create_table(
        "simulator_keys",
        sa.Column("account_id", sa.String(length=255), nullable=False),
        sa.Column("key", sa.String(length=255), nullable=False),
        sa.Column("request_hash", sa.String(length=64), nullable=False),
        sa.Column(
            "answer",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=False,
        ),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("account_id", "key", name=op.f("pk_simulator_keys")),
    )
    with op.batch_alter_table("simulator_keys", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_simulator_keys_expires_at"), ["expires_at"], unique=False)

    op.create_table(
        "simulator_locations",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("account_id", sa.String(length=255), nullable=False),
        sa.Column("display_name", sa.String(length=1000), nullable=False),
        sa.Column(
            "address",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=False,
        ),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_simulator_locations")),
    )
    op.create_table(
        "simulator_refunds",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("account_id", sa.String(length=255), nullable=False),
        sa.Column("intent_id", sa.String(length=64), nullable=False),
        sa.Column("amount", sa.Integer(), nullable=False),
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
    with op.batch_alter_table("simulator_refunds", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_simulator_refunds_intent_id"), ["intent_id"], unique=False)


def downgrade() -> None:
    with op.batch_alter_table("simulator_refunds", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_simulator_refunds_intent_id"))

    op.drop_table("simulator_refunds")
    op.drop_table("simulator_locations")
    with op.batch_alter_table("simulator_keys", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_simulator_keys_expires_at"))

    op.drop_table("simulator_keys")
    with op.batch_alter_table("simulator_intents", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_simulator_intents_account_id_created_at"))

    op.drop_table("simulator_intents")
    with op.batch_alter_table("simulator_events", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_simulator_events_due_at"))

    op.drop_table("simulator_events")
