"""The alert about a purge that stopped is named for it

Revision: 8b3d61f0a47c
Follows: 2e8f5a7c91b4
Date: 2026-11-22 21:55:00+00:00
"""

from __future__ import annotations

from alembic import op

revision = "8b3d61f0a47c"
down_revision = "2e8f5a7c91b4"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("UPDATE alerts SET cause = 'purge_blocked' WHERE cause = 'purge_held_back'")


def downgrade() -> None:
    op.execute("UPDATE alerts SET cause = 'purge_held_back' WHERE cause = 'purge_blocked'")
