"""How many lists of suggestions shoppers were shown

Revision: 3fa61c08d9e2
Follows: 9d42c6e1f7a5
Date: 2026-11-23 03:15:00+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "3fa61c08d9e2"
down_revision = "9d42c6e1f7a5"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "search_suggestion_days",
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("shown", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_search_suggestion_days_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("site_id", "day", name=op.f("pk_search_suggestion_days")),
    )


def downgrade() -> None:
    op.drop_table("search_suggestion_days")
