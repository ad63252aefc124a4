"""Products and variants are found by their UPC, which a till scans

Revision: 8d2a6f417be3
Follows: 5b1f3ce7a920
Date: 2026-11-22 17:04:00+00:00
"""

from __future__ import annotations

from alembic import op

revision = "8d2a6f417be3"
down_revision = "5b1f3ce7a920"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_products_site_id_upc", "products", ["site_id", "upc"], unique=False)
    op.create_index("ix_variants_site_id_upc", "variants", ["site_id", "upc"], unique=False)


def downgrade() -> None:
    op.drop_index("ix_variants_site_id_upc", table_name="variants")
    op.drop_index("ix_products_site_id_upc", table_name="products")
