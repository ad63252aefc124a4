"""Variants have a picture of their own

Revision: 52e7c0a9d41b
Follows: 5d1f7a92c6e3
Date: 2026-11-23 00:14:20.310552+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "52e7c0a9d41b"
down_revision = "5d1f7a92c6e3"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("variants", sa.Column("picture", sa.String(200), nullable=True))


def downgrade() -> None:
    op.drop_column("variants", "picture")
