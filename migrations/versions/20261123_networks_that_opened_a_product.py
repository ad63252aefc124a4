"""From how many different networks shoppers opened a product

Revision: 6d0f3b92c8e4
Follows: 3e9b52c7d614
Date: 2026-11-23 07:10:00+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "6d0f3b92c8e4"
down_revision = "3e9b52c7d614"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("search_product_days", schema=None) as batch_op:
        batch_op.add_column(sa.Column("networks", sa.Integer(), nullable=False, server_default="0"))


def downgrade() -> None:
    with op.batch_alter_table("search_product_days", schema=None) as batch_op:
        batch_op.drop_column("networks")
