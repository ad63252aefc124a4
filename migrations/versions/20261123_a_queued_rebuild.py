"""What is rebuilt right after a rebuild that others joined

Revision: 5c1e7d20b9f4
Follows: 52e7c0a9d41b
Date: 2026-11-23 00:35:00+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "5c1e7d20b9f4"
down_revision = "52e7c0a9d41b"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("rebuild_runs", sa.Column("queued_scope", sa.String(length=16), nullable=True))
    op.add_column("rebuild_runs", sa.Column("queued_by", sa.String(length=100), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("rebuild_runs", schema=None) as batch_op:
        batch_op.drop_column("queued_by")
        batch_op.drop_column("queued_scope")
