"""Categories may have a picture of their own

Revision: d13c0a5e7b42
Follows: c3a85f1e7d24
Date: 2026-11-28 21:20:00.000000+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "d13c0a5e7b42"
down_revision = "c3a85f1e7d24"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("merchandising_nodes", sa.Column("picture", sa.String(length=100), nullable=True))


def downgrade() -> None:
    op.drop_column("merchandising_nodes", "picture")
