"""Imports of tables of products: what the columns are about

Revision: 7c3e9a15d8b4
Follows: 5c1e7d20b9f4
Date: 2026-11-23 00:25:00+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "7c3e9a15d8b4"
down_revision = "5c1e7d20b9f4"
branch_labels = None
depends_on = None

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    with op.batch_alter_table("bundle_runs", schema=None) as batch_op:
        batch_op.add_column(sa.Column("columns", JSON, nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("bundle_runs", schema=None) as batch_op:
        batch_op.drop_column("columns")
