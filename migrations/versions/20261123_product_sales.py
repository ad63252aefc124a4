"""What products sold in the last 90 days

Revision: 8f2b6c41d7ae
Follows: 3fa61c08d9e2
Date: 2026-11-23 03:10:00+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "8f2b6c41d7ae"
down_revision = "3fa61c08d9e2"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "product_sales",
        sa.Column("product_id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("units", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["product_id"], ["products.id"], name=op.f("fk_product_sales_product_id_products"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_product_sales_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("product_id", name=op.f("pk_product_sales")),
    )
    op.create_index(op.f("ix_product_sales_site_id"), "product_sales", ["site_id"], unique=False)


def downgrade() -> None:
    op.drop_index(op.f("ix_product_sales_site_id"), table_name="product_sales")
    op.drop_table("product_sales")
