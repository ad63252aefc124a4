"""The clock and what is kept only for a time

Revision: c1db9bcdac60
Follows: 76f1fbc976fc
Date: 2026-11-24 19:03:00.000000+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "c1db9bcdac60"
down_revision = "76f1fbc976fc"
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
