"""The activity log says by which door a change came in

Revision: b7d20c4e913a
Follows: 6c0f4b92d7e8
Date: 2026-11-22 20:40:12.118204+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "b7d20c4e913a"
down_revision = "6c0f4b92d7e8"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("audit_entries", sa.Column("origin", sa.String(16), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("audit_entries") as table:
        table.drop_column("origin")
