"""Network printers of locations

Revision: 5c2e7fd1b906
Follows: 5c27e1f09ab4
Date: 2026-11-28 07:20:00.000000+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "5c2e7fd1b906"
down_revision = "5c27e1f09ab4"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("pos_locations") as batch_op:
        batch_op.add_column(sa.Column("printer_address", sa.String(length=270), server_default="", nullable=False))


def downgrade() -> None:
    with op.batch_alter_table("pos_locations") as batch_op:
        batch_op.drop_column("printer_address")
