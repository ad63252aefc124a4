"""Indexes for pages about very many products, and for an outbox with very many changes

Revision: 3f7a92c4e1d8
Follows: 8d3b61f0a2c7
Date: 2026-11-28 14:10:00.000000+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "3f7a92c4e1d8"
down_revision = "8d3b61f0a2c7"
branch_labels = None
depends_on = None

HAS_TERMS = sa.text("search_terms != '[]'")
UNAPPLIED = sa.text("applied_at is null")
INDEXES = (
    ("ix_products_site_id_id", "products", ["site_id", "id"], {"postgresql_include": ["taxonomy_level_id"]}),
    ("ix_products_site_id_price_id", "products", ["site_id", "price", "id"], {}),
    ("ix_products_site_id_stock_id", "products", ["site_id", "stock", "id"], {"postgresql_include": ["enabled"]}),
    (
        "ix_products_site_id_taxonomy_level_id_manufacturer_id",
        "products",
        ["site_id", "taxonomy_level_id", "manufacturer", "id"],
        {"postgresql_include": ["enabled"]},
    ),
    (
        "ix_products_with_terms",
        "products",
        ["site_id", "updated_at"],
        {"sqlite_where": HAS_TERMS, "postgresql_where": HAS_TERMS},
    ),
    ("ix_orders_site_id_status_paid_amount", "orders", ["site_id", "status", "paid_amount"], {}),
    (
        "ix_index_outbox_unapplied",
        "index_outbox",
        ["site_id", "attempts", "id"],
        {"sqlite_where": UNAPPLIED, "postgresql_where": UNAPPLIED},
    ),
)
# Without the extension, its operators on the search path, or the right to create it, PostgreSQL reads all products for a part of a word.
WORDS = (
    "DO $words$ BEGIN CREATE EXTENSION IF NOT EXISTS pg_trgm; CREATE INDEX ix_products_words ON products USING gin "
    "(name gin_trgm_ops, sku gin_trgm_ops, seo_name gin_trgm_ops); "
    "EXCEPTION WHEN insufficient_privilege OR undefined_file OR undefined_object OR feature_not_supported "
    "THEN NULL; END $words$;"
)


def upgrade() -> None:
    """What takes longest comes first: changes of a table wait from its first index to the end, those of orders least."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute(WORDS)
    for name, table, columns, options in INDEXES:
        op.create_index(name, table, columns, **options)


def downgrade() -> None:
    """The extension stays: others may use it."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP INDEX IF EXISTS ix_products_words")
    for name, table, _, _ in reversed(INDEXES):
        op.drop_index(name, table_name=table)
