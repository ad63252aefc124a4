"""Search rules for categories

Revision: c8e2f6013b7d
Follows: b41d7e90c2f5
Date: 2026-11-28 21:00:00.000000+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "c8e2f6013b7d"
down_revision = "b41d7e90c2f5"
branch_labels = None
depends_on = None

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.add_column("search_rules", sa.Column("categories", JSON, server_default="[]", nullable=False))


def downgrade() -> None:
    """A rule that is narrowed by categories alone is deleted: the release before would apply it to more searches."""
    no_levels = "cast(categories as text) <> '[]' and cast(levels as text) = '[]'"
    op.execute(f"delete from search_rules where {no_levels}")
    with op.batch_alter_table("search_rules", table_kwargs={"sqlite_autoincrement": True}) as batch_op:
        batch_op.drop_column("categories")
