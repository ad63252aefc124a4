"""The sentence model for whose vectors the shop itself requested a rebuild

Revision: 7c4e1a95d2b8
Follows: 4b7d20e95c18
Date: 2026-11-23 04:45:00+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "7c4e1a95d2b8"
down_revision = "4b7d20e95c18"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("rebuild_runs", sa.Column("for_model", sa.Text(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("rebuild_runs", schema=None) as batch_op:
        batch_op.drop_column("for_model")
