"""A rebuild that was blocked says so in a column of that name

Revision: 3e9b52c7d614
Follows: 7c4e1a95d2b8
Date: 2026-11-23 07:05:00+00:00

The column of the former name stays for the release before (`app.release.OF_THE_RELEASE_BEFORE`).
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "3e9b52c7d614"
down_revision = "7c4e1a95d2b8"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("rebuild_runs", sa.Column("blocked", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.execute("UPDATE rebuild_runs SET blocked = held_back")


def downgrade() -> None:
    op.execute("UPDATE rebuild_runs SET held_back = blocked")
    op.drop_column("rebuild_runs", "blocked")
