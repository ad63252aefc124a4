"""How often a redirect was followed, and the last day

Revision: a6d94b1e72c8
Follows: b61d0c84e7f3
Date: 2026-11-29 04:45:00.000000+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "a6d94b1e72c8"
down_revision = "b61d0c84e7f3"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("redirects", sa.Column("hits", sa.Integer(), server_default="0", nullable=False))
    op.add_column("redirects", sa.Column("last_hit_on", sa.Date(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("redirects") as redirects:
        redirects.drop_column("last_hit_on")
        redirects.drop_column("hits")
