"""Receipts by e-mail, and an index of the payments that staff look at

Revision: bf4ea8e37763
Follows: 8d27c6f0b1a4
Date: 2026-11-22 17:30:38.765298+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "bf4ea8e37763"
down_revision = "8d27c6f0b1a4"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "pos_receipt_mails",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("transaction_id", sa.String(length=36), nullable=False),
        sa.Column("email", sa.String(length=254), nullable=True),
        sa.Column("link", sa.String(length=500), nullable=False),
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
    with op.batch_alter_table("pos_receipt_mails", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_pos_receipt_mails_state_next_try_at"), ["state", "next_try_at"], unique=False
        )
        batch_op.create_index(
            batch_op.f("ix_pos_receipt_mails_transaction_id_created_at"), ["transaction_id", "created_at"], unique=False
        )

    with op.batch_alter_table("pos_transactions", schema=None) as batch_op:
        batch_op.create_index(
            "ix_pos_transactions_attention",
            ["site_id"],
            unique=False,
            sqlite_where=sa.text("(anomaly is not null or status = 'UNKNOWN')"),
            postgresql_where=sa.text("(anomaly is not null or status = 'UNKNOWN')"),
        )


def downgrade() -> None:
    with op.batch_alter_table("pos_transactions", schema=None) as batch_op:
        batch_op.drop_index(
            "ix_pos_transactions_attention",
            sqlite_where=sa.text("(anomaly is not null or status = 'UNKNOWN')"),
            postgresql_where=sa.text("(anomaly is not null or status = 'UNKNOWN')"),
        )

    with op.batch_alter_table("pos_receipt_mails", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_pos_receipt_mails_transaction_id_created_at"))
        batch_op.drop_index(batch_op.f("ix_pos_receipt_mails_state_next_try_at"))

    op.drop_table("pos_receipt_mails")
