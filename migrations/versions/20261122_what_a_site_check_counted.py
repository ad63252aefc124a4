"""What a site check found by kind, and how many links it did not follow

Revision: e4a7c90b12d5
Follows: b2e21ef7a071
Date: 2026-11-22 14:05:00+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "e4a7c90b12d5"
down_revision = "b2e21ef7a071"
branch_labels = None
depends_on = None

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    with op.batch_alter_table("site_checks", schema=None) as batch_op:
        batch_op.add_column(sa.Column("counts", JSON, nullable=False, server_default="{}"))
        batch_op.add_column(sa.Column("unvisited", sa.Integer(), nullable=False, server_default="0"))
    with op.batch_alter_table("site_checks", schema=None) as batch_op:
        batch_op.alter_column("counts", server_default=None)
        batch_op.alter_column("unvisited", server_default=None)


def downgrade() -> None:
    with op.batch_alter_table("site_checks", schema=None) as batch_op:
        batch_op.drop_column("unvisited")
        batch_op.drop_column("counts")
