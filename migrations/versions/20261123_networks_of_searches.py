"""From how many networks a word was searched for

Revision: 4b7d20e95c18
Follows: 1f6b8c03e7d5
Date: 2026-11-23 04:45:00+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "4b7d20e95c18"
down_revision = "1f6b8c03e7d5"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # The default remains: a process of the version before still inserts days while the shop is upgraded.
    op.add_column("search_word_days", sa.Column("networks", sa.Integer(), server_default="0", nullable=False))


def downgrade() -> None:
    op.drop_column("search_word_days", "networks")
