"""The addresses that imports fetched pictures from

Revision: a19c40d2e7b7
Follows: a19c40d2e7b6
Date: 2026-11-29 00:45:00.000000+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "a19c40d2e7b7"
down_revision = "a19c40d2e7b6"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("product_images", sa.Column("source", sa.String(length=2000), nullable=True))


def downgrade() -> None:
    op.drop_column("product_images", "source")
