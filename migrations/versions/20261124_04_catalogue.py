"""Products, variants, pictures, collections and pages

Revision: a5709e8c47fb
Follows: c1db9bcdac60
Date: 2026-11-24 19:04:00.000000+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "a5709e8c47fb"
down_revision = "c1db9bcdac60"
branch_labels = None
depends_on = None

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "collections",
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("seo_name", sa.String(length=200), nullable=False),
        sa.Column("canonical_url", sa.String(length=500), nullable=True),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_collections_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_collections")),
        sa.UniqueConstraint("site_id", "seo_name", name=op.f("uq_collections_site_id_seo_name")),
    )
    op.create_table(
        "pages",
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("meta_description", sa.String(length=500), nullable=True),
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("seo_name", sa.String(length=200), nullable=False),
        sa.Column("canonical_url", sa.String(length=500), nullable=True),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], name=op.f("fk_pages_site_id_sites"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pages")),
        sa.UniqueConstraint("site_id", "seo_name", name=op.f("uq_pages_site_id_seo_name")),
    )
    op.create_table(
        "products",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("sku", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=300), nullable=False),
        sa.Column("seo_name", sa.String(length=200), nullable=False),
        sa.Column("manufacturer", sa.String(length=120), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("price", sa.Integer(), nullable=False),
        sa.Column("compare_at_price", sa.Integer(), nullable=True),
        sa.Column("upc", sa.String(length=32), nullable=True),
        sa.Column("stock", sa.Integer(), nullable=True),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("featured", sa.Boolean(), nullable=False),
        sa.Column("rating", sa.Float(), nullable=True),
        sa.Column("search_terms", JSON, nullable=False),
        sa.Column("canonical_url", sa.String(length=500), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("taxonomy_level_id", sa.String(length=120), nullable=True),
        sa.Column("completeness_score", sa.Integer(), nullable=True),
        sa.Column("taxonomy_attributes", JSON, nullable=False),
        sa.Column("archived_taxonomy_data", JSON, nullable=True),
        sa.CheckConstraint("price >= 0", name=op.f("ck_products_price_not_negative")),
        sa.CheckConstraint("stock is null or stock >= 0", name=op.f("ck_products_stock_not_negative")),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], name=op.f("fk_products_site_id_sites"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_products")),
        sa.UniqueConstraint("site_id", "seo_name", name=op.f("uq_products_site_id_seo_name")),
        sa.UniqueConstraint("site_id", "sku", name=op.f("uq_products_site_id_sku")),
    )
    op.create_index(
        op.f("ix_products_site_id_completeness_score"), "products", ["site_id", "completeness_score"], unique=False
    )
    op.create_index(op.f("ix_products_site_id_manufacturer"), "products", ["site_id", "manufacturer"], unique=False)
    op.create_index(op.f("ix_products_site_id_name"), "products", ["site_id", "name"], unique=False)
    op.create_index(
        op.f("ix_products_site_id_taxonomy_level_id_enabled"),
        "products",
        ["site_id", "taxonomy_level_id", "enabled"],
        unique=False,
    )
    op.create_index(op.f("ix_products_site_id_upc"), "products", ["site_id", "upc"], unique=False)
    op.create_index(op.f("ix_products_site_id_updated_at"), "products", ["site_id", "updated_at"], unique=False)
    op.create_table(
        "collection_entries",
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.Column("product_id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["collection_id"],
            ["collections.id"],
            name=op.f("fk_collection_entries_collection_id_collections"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["product_id"], ["products.id"], name=op.f("fk_collection_entries_product_id_products"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_collection_entries_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("collection_id", "product_id", name=op.f("pk_collection_entries")),
    )
    op.create_index(op.f("ix_collection_entries_product_id"), "collection_entries", ["product_id"], unique=False)
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
    op.create_index(
        op.f("ix_picture_uploads_site_id_product_id"), "picture_uploads", ["site_id", "product_id"], unique=False
    )
    op.create_table(
        "product_attribute_values",
        sa.Column("product_id", sa.Integer(), nullable=False),
        sa.Column("attribute_id", sa.String(length=120), nullable=False),
        sa.Column("value", sa.String(length=500), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["product_id"],
            ["products.id"],
            name=op.f("fk_product_attribute_values_product_id_products"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_product_attribute_values_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("product_id", "attribute_id", "value", name=op.f("pk_product_attribute_values")),
    )
    op.create_index(
        op.f("ix_product_attribute_values_site_id_attribute_id_value"),
        "product_attribute_values",
        ["site_id", "attribute_id", "value"],
        unique=False,
    )
    op.create_table(
        "product_images",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("product_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("file", sa.String(length=200), nullable=False),
        sa.Column("alt", sa.String(length=300), nullable=False),
        sa.Column("width", sa.Integer(), nullable=False),
        sa.Column("height", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["product_id"], ["products.id"], name=op.f("fk_product_images_product_id_products"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_product_images_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_product_images")),
    )
    op.create_index(
        op.f("ix_product_images_product_id_position"), "product_images", ["product_id", "position"], unique=False
    )
    op.create_table(
        "variants",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("product_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("sku", sa.String(length=64), nullable=False),
        sa.Column("upc", sa.String(length=32), nullable=True),
        sa.Column("price", sa.Integer(), nullable=True),
        sa.Column("stock", sa.Integer(), nullable=True),
        sa.Column("options", JSON, nullable=False),
        sa.Column("picture", sa.String(length=200), nullable=True),
        sa.ForeignKeyConstraint(
            ["product_id"], ["products.id"], name=op.f("fk_variants_product_id_products"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], name=op.f("fk_variants_site_id_sites"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_variants")),
        sa.UniqueConstraint("site_id", "sku", name=op.f("uq_variants_site_id_sku")),
    )
    op.create_index(op.f("ix_variants_product_id_position"), "variants", ["product_id", "position"], unique=False)
    op.create_index(op.f("ix_variants_site_id_upc"), "variants", ["site_id", "upc"], unique=False)


def downgrade() -> None:
    op.drop_table("variants")
    op.drop_table("product_images")
    op.drop_table("product_attribute_values")
    op.drop_table("picture_uploads")
    op.drop_table("collection_entries")
    op.drop_table("products")
    op.drop_table("pages")
    op.drop_table("collections")
