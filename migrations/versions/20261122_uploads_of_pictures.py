"""Uploaded pictures on their way to a product

Revision: 7be4a90c52f1
Follows: 3c81e5b7a9d2
Date: 2026-11-22 11:00:00+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "7be4a90c52f1"
down_revision = "3c81e5b7a9d2"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "picture_uploads",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("product_id", sa.Integer(), nullable=False),
        sa.Column("file", sa.String(length=100), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("alt", sa.String(length=300), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("requested_by", sa.String(length=100), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "state in ('waiting', 'running', 'done', 'failed')", name=op.f("ck_picture_uploads_state_known")
        ),
        sa.ForeignKeyConstraint(
            ["product_id"], ["products.id"], name=op.f("fk_picture_uploads_product_id_products"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_picture_uploads_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_picture_uploads")),
    )
    with op.batch_alter_table("picture_uploads", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_picture_uploads_site_id_product_id"), ["site_id", "product_id"], unique=False
        )


def downgrade() -> None:
    op.drop_table("picture_uploads")
