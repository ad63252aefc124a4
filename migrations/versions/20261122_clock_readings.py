"""The clock as it was last read

Revision: 3c81e5b7a9d2
Follows: 9d27c6a1be04
Date: 2026-11-22 10:30:00+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "3c81e5b7a9d2"
down_revision = "9d27c6a1be04"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "clock_readings",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("wall_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("steady_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("doubted_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_clock_readings")),
    )


def downgrade() -> None:
    op.drop_table("clock_readings")
