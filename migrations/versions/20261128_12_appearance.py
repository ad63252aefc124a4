"""The appearance of each shop

Revision: c3a85f1e7d24
Follows: c8e2f6013b7d
Date: 2026-11-28 20:50:00.000000+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "c3a85f1e7d24"
down_revision = "c8e2f6013b7d"
branch_labels = None
depends_on = None


def json_value() -> sa.JSON:
    return sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "appearances",
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("value", json_value(), nullable=False),
        sa.Column("previous", json_value(), nullable=False),
        sa.Column("files", json_value(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_by", sa.String(length=100), nullable=False),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_appearances_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("site_id", name=op.f("pk_appearances")),
    )


def downgrade() -> None:
    op.drop_table("appearances")
