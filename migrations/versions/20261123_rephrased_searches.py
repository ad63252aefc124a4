"""Visits that rephrased a search

Revision: 9d42c6e1f7a5
Follows: 7c3e9a15d8b4
Date: 2026-11-23 03:10:42.118203+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "9d42c6e1f7a5"
down_revision = "7c3e9a15d8b4"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "search_rephrasings",
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("word", sa.String(length=100), nullable=False),
        sa.Column("next_word", sa.String(length=100), nullable=False),
        sa.Column("visits", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_search_rephrasings_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("site_id", "day", "word", "next_word", name=op.f("pk_search_rephrasings")),
    )


def downgrade() -> None:
    op.drop_table("search_rephrasings")
