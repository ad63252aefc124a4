"""Runs of scheduled jobs

Revision: a6edd80e284b
Follows: b66f22d0f67e
Date: 2026-11-24 19:16:00.000000+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "a6edd80e284b"
down_revision = "b66f22d0f67e"
branch_labels = None
depends_on = None

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "job_runs",
        sa.Column("job", sa.String(length=64), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("errors", JSON, nullable=False),
        sa.Column("report", JSON, nullable=True),
        sa.PrimaryKeyConstraint("job", name=op.f("pk_job_runs")),
    )


def downgrade() -> None:
    op.drop_table("job_runs")
