"""Payments of orders as large as their totals, what of them came by bank transfer, and how to pay in advance

Revision: f17c05a9e3d2
Follows: c31e62f4a9d8
Date: 2026-11-29 01:50:00.000000+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "f17c05a9e3d2"
down_revision = "c31e62f4a9d8"
branch_labels = None
depends_on = None

AMOUNTS = ("paid_amount", "reserved_amount")


def upgrade() -> None:
    _change_amounts(sa.Integer(), sa.BigInteger())
    op.add_column("orders", sa.Column("transferred_amount", sa.BigInteger(), server_default="0", nullable=False))
    text = sa.Column("payment_instructions", sa.String(length=1000), server_default="", nullable=False)
    op.add_column("orders", text)


def downgrade() -> None:
    with op.batch_alter_table("orders") as orders:
        orders.drop_column("payment_instructions")
        orders.drop_column("transferred_amount")
    _change_amounts(sa.BigInteger(), sa.Integer())


def _change_amounts(before: sa.Integer, after: sa.Integer) -> None:
    """An INTEGER of SQLite holds 64 bits already."""
    if op.get_bind().dialect.name == "postgresql":
        for name in AMOUNTS:
            op.alter_column("orders", name, type_=after, existing_type=before, existing_server_default="0")
