"""The latest run of each scheduled job

Revision: 6d0b93e4f72a
Follows: 4c2f9ae81d36
Date: 2026-11-22 21:00:00+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "6d0b93e4f72a"
down_revision = "4c2f9ae81d36"
branch_labels = None
depends_on = None

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), "postgresql")


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
