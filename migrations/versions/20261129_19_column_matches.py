"""How tables of products were matched, for the next file of the same form

Revision: a19c40d2e7b6
Follows: f4b81d70e926
Date: 2026-11-29 00:20:00.000000+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "a19c40d2e7b6"
down_revision = "f4b81d70e926"
branch_labels = None
depends_on = None

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "column_matches",
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("header_digest", sa.String(length=64), nullable=False),
        sa.Column("columns", JSON, nullable=False),
        sa.Column("matched_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_column_matches_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("site_id", "header_digest", name=op.f("pk_column_matches")),
    )


def downgrade() -> None:
    op.drop_table("column_matches")
