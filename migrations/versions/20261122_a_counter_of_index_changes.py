"""A counter of the changes of a site's search indexes

Revision: 4f0c2b7d91e3
Follows: 5c1f0f3a9b27
Date: 2026-11-22 07:15:00+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "4f0c2b7d91e3"
down_revision = "5c1f0f3a9b27"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("sites", schema=None) as batch_op:
        batch_op.add_column(sa.Column("index_version", sa.Integer(), nullable=False, server_default="0"))


def downgrade() -> None:
    # The version before cannot read the snapshots of this one; the scheduler publishes anew what is saved.
    op.execute("UPDATE served_words SET synonyms = '[]', rules = '[]', live_version = 0")
    with op.batch_alter_table("sites", schema=None) as batch_op:
        batch_op.drop_column("index_version")
