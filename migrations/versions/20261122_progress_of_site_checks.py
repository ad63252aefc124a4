"""How far a site check has come, which is done in slices

Revision: 2f95c81ad7b6
Follows: 7b1de0f3c864
Date: 2026-11-22 15:05:00+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "2f95c81ad7b6"
down_revision = "7b1de0f3c864"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("site_checks", schema=None) as batch_op:
        batch_op.add_column(sa.Column("progress", sa.LargeBinary(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("site_checks", schema=None) as batch_op:
        batch_op.drop_column("progress")
