"""Mails about orders that were collected, cancelled or refunded

Revision: 8d3f61c2a974
Follows: d13c0a5e7b42
Date: 2026-11-28 21:00:00.000000+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "8d3f61c2a974"
down_revision = "d13c0a5e7b42"
branch_labels = None
depends_on = None

KINDS = "kind in ('received', 'ready', 'collected', 'cancelled', 'refunded')"
KINDS_BEFORE = "kind in ('received', 'ready')"


def upgrade() -> None:
    with op.batch_alter_table("order_mails") as batch_op:
        batch_op.add_column(sa.Column("refund_id", sa.String(length=36), server_default="", nullable=False))
        batch_op.add_column(sa.Column("amount", sa.BigInteger(), nullable=True))
        batch_op.add_column(sa.Column("in_cash", sa.Boolean(), server_default=sa.false(), nullable=False))
        batch_op.drop_constraint(batch_op.f("uq_order_mails_order_id_kind"), type_="unique")
        batch_op.create_unique_constraint(
            batch_op.f("uq_order_mails_order_id_kind_refund_id"), ["order_id", "kind", "refund_id"]
        )
        batch_op.drop_constraint(batch_op.f("ck_order_mails_kind_known"), type_="check")
        batch_op.create_check_constraint(batch_op.f("ck_order_mails_kind_known"), KINDS)


def downgrade() -> None:
    op.execute(f"delete from order_mails where not ({KINDS_BEFORE})")
    with op.batch_alter_table("order_mails") as batch_op:
        batch_op.drop_constraint(batch_op.f("ck_order_mails_kind_known"), type_="check")
        batch_op.create_check_constraint(batch_op.f("ck_order_mails_kind_known"), KINDS_BEFORE)
        batch_op.drop_constraint(batch_op.f("uq_order_mails_order_id_kind_refund_id"), type_="unique")
        batch_op.create_unique_constraint(batch_op.f("uq_order_mails_order_id_kind"), ["order_id", "kind"])
        batch_op.drop_column("in_cash")
        batch_op.drop_column("amount")
        batch_op.drop_column("refund_id")
