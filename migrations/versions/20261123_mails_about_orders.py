"""Mails about orders, and when an order was ready to collect

Revision: 5d1f7a92c6e3
Follows: 8b3d61f0a47c
Date: 2026-11-23 00:20:11.318422+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "5d1f7a92c6e3"
down_revision = "8b3d61f0a47c"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "order_mails",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("order_id", sa.String(length=36), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
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
            "state in ('waiting', 'running', 'done', 'failed')", name=op.f("ck_order_mails_state_known")
        ),
        sa.CheckConstraint("kind in ('received', 'ready')", name=op.f("ck_order_mails_kind_known")),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_order_mails_site_id_sites"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["order_id"], ["orders.id"], name=op.f("fk_order_mails_order_id_orders"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_order_mails")),
        sa.UniqueConstraint("order_id", "kind", name=op.f("uq_order_mails_order_id_kind")),
    )
    op.create_index(op.f("ix_order_mails_state_next_try_at"), "order_mails", ["state", "next_try_at"], unique=False)
    op.add_column("orders", sa.Column("ready_at", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    op.drop_column("orders", "ready_at")
    op.drop_index(op.f("ix_order_mails_state_next_try_at"), table_name="order_mails")
    op.drop_table("order_mails")
