"""Redirects from addresses that have no page any more

Revision: e3a90c61d715
Follows: 8d3f61c2a974
Date: 2026-11-28 20:55:00.000000+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "e3a90c61d715"
down_revision = "8d3f61c2a974"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "redirects",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("old_path", sa.String(length=1200), nullable=False),
        sa.Column("new_path", sa.String(length=1200), nullable=False),
        sa.Column("new_query", sa.String(length=500), nullable=False),
        sa.Column("reach", sa.String(length=10), nullable=False),
        sa.Column("source", sa.String(length=20), nullable=False),
        sa.Column("updated_by", sa.String(length=100), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], name=op.f("fk_redirects_site_id_sites"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_redirects")),
        sa.UniqueConstraint("site_id", "old_path", name=op.f("uq_redirects_site_id_old_path")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_redirects_site_id_new_path"), "redirects", ["site_id", "new_path"])
    op.create_index(op.f("ix_redirects_site_id_updated_at_id"), "redirects", ["site_id", "updated_at", "id"])


def downgrade() -> None:
    op.drop_table("redirects")
