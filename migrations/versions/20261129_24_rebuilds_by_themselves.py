"""The save of a taxonomy that the index gets to know by a rebuild

Revision: e58b94c1d207
Follows: d4a83f60b1e9
Date: 2026-11-29 00:20:00.000000+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "e58b94c1d207"
down_revision = "d4a83f60b1e9"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("taxonomies", sa.Column("rebuild_needed_at", sa.DateTime(timezone=True), nullable=True))
    # Where a rebuild was advised after the latest save and never requested, the shop requests it now.
    op.execute("update taxonomies set rebuild_needed_at = updated_at")


def downgrade() -> None:
    op.drop_column("taxonomies", "rebuild_needed_at")
