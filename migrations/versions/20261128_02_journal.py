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


def downgrade() -> None:
    op.drop_table("pos_journal_heads")
    op.drop_table("pos_journal_entries")
