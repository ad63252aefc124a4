"""Refunds of the simulator keep their metadata; an idempotency key keeps no answer of its own

Revision: 1d7c5be08a43
Follows: 9b3e6d10c74f
Date: 2026-11-22 20:40:00+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "1d7c5be08a43"
down_revision = "9b3e6d10c74f"
branch_labels = None
depends_on = None

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    with op.batch_alter_table("simulator_refunds", schema=None) as batch_op:
        batch_op.add_column(sa.Column("metadata", JSON, server_default="{}", nullable=False))
    with op.batch_alter_table("pos_idempotency_keys", schema=None) as batch_op:
        batch_op.drop_column("body")


def downgrade() -> None:
    with op.batch_alter_table("pos_idempotency_keys", schema=None) as batch_op:
        batch_op.add_column(sa.Column("body", JSON, nullable=True))
    with op.batch_alter_table("simulator_refunds", schema=None) as batch_op:
        batch_op.drop_column("metadata")
