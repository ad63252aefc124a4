"""The journal of the till

Revision: 3d1f0c8b7a52
Follows: 3b0e5d1c7a42
Date: 2026-11-28 04:00:00.000000+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "3d1f0c8b7a52"
down_revision = "3b0e5d1c7a42"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "pos_journal_entries",
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("sequence", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("type", sa.String(length=8), nullable=False),
        sa.Column("at", sa.String(length=20), nullable=False),
        sa.Column("session_id", sa.String(length=36), nullable=True),
        sa.Column("transaction_id", sa.String(length=36), nullable=True),
        sa.Column("order_number", sa.String(length=20), nullable=True),
        sa.Column("amount", sa.Integer(), nullable=True),
        sa.Column("tender_type", sa.String(length=4), nullable=True),
        sa.Column("late", sa.Boolean(), nullable=False),
        sa.Column("previous_hash", sa.String(length=64), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.CheckConstraint(
            "type in ('SALE', 'REFUND', 'VOID', 'PAY_IN', 'PAY_OUT', 'DROP', 'Z_REPORT')",
            name=op.f("ck_pos_journal_entries_type_known"),
        ),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_pos_journal_entries_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("site_id", "sequence", name=op.f("pk_pos_journal_entries")),
    )
    op.create_table(
        "pos_journal_heads",
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_pos_journal_heads_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("site_id", name=op.f("pk_pos_journal_heads")),
    )
    op.create_table(
        "pos_journal_mails",
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
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
            "state in ('waiting', 'running', 'done', 'failed')", name=op.f("ck_pos_journal_mails_state_known")
        ),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_pos_journal_mails_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pos_journal_mails")),
    )
    op.create_index(
        op.f("ix_pos_journal_mails_state_next_try_at"), "pos_journal_mails", ["state", "next_try_at"], unique=False
    )


def downgrade() -> None:
    op.drop_table("pos_journal_mails")
    op.drop_table("pos_journal_heads")
    op.drop_table("pos_journal_entries")
