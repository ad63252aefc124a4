"""Payments are found by their order in an index

Revision: 9b41d7e35c60
Follows: 6d0f3b92c8e4
Date: 2026-11-23 13:50:00+00:00
"""

from __future__ import annotations

from alembic import op

revision = "9b41d7e35c60"
down_revision = "6d0f3b92c8e4"
branch_labels = None
depends_on = None

NAME, TABLE = "ix_pos_transactions_order_id", "pos_transactions"


def upgrade() -> None:
    op.create_index(op.f(NAME), TABLE, ["order_id"])


def downgrade() -> None:
    op.drop_index(op.f(NAME), table_name=TABLE)
