"""The first tables

Revision: 698de4f1e880
Follows:
Date: 2026-11-21 07:08:39.717828+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "698de4f1e880"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "job_slots",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("job", sa.String(length=64), nullable=False),
        sa.Column("slot", sa.DateTime(timezone=True), nullable=False),
        sa.Column("claimed_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job_slots")),
        sa.UniqueConstraint("job", "slot", name=op.f("uq_job_slots_job_slot")),
    )
    op.create_table(
        "sign_in_failures",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=300), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sign_in_failures")),
    )
    with op.batch_alter_table("sign_in_failures", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_sign_in_failures_at"), ["at"], unique=False)
        batch_op.create_index(batch_op.f("ix_sign_in_failures_key_at"), ["key", "at"], unique=False)

    op.create_table(
        "sites",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("time_zone", sa.String(length=64), nullable=False),
        sa.Column("staging", sa.Boolean(), nullable=False),
        sa.Column(
            "capabilities",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=False,
        ),
        sa.Column("config_version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sites")),
    )
    op.create_table(
        "users",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("display_name", sa.String(length=100), nullable=False),
        sa.Column("password_hash", sa.String(length=200), nullable=True),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("session_version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_users")),
        sa.UniqueConstraint("email", name=op.f("uq_users_email")),
    )
    op.create_table(
        "audit_entries",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor", sa.String(length=100), nullable=False),
        sa.Column("action", sa.String(length=64), nullable=False),
        sa.Column("subject_type", sa.String(length=32), nullable=False),
        sa.Column("subject_id", sa.String(length=120), nullable=False),
        sa.Column("summary", sa.String(length=500), nullable=False),
        sa.Column(
            "before",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=True,
        ),
        sa.Column(
            "after",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=True,
        ),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_audit_entries_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_entries")),
    )
    with op.batch_alter_table("audit_entries", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_audit_entries_site_id_at"), ["site_id", "at"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_audit_entries_site_id_subject_type_subject_id"),
            ["site_id", "subject_type", "subject_id"],
            unique=False,
        )

    op.create_table(
        "collections",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("seo_name", sa.String(length=200), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
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
        "domains",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("host", sa.String(length=253), nullable=False),
        sa.Column("primary", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], name=op.f("fk_domains_site_id_sites"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_domains")),
        sa.UniqueConstraint("host", name=op.f("uq_domains_host")),
    )
    with op.batch_alter_table("domains", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_domains_site_id"), ["site_id"], unique=False)
        batch_op.create_index(
            "uq_domains_primary",
            ["site_id"],
            unique=True,
            sqlite_where=sa.text('"primary" = 1'),
            postgresql_where=sa.text('"primary"'),
        )

    op.create_table(
        "index_outbox",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("record_id", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("applied_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_index_outbox_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_index_outbox")),
    )
    with op.batch_alter_table("index_outbox", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_index_outbox_site_id_applied_at_id"), ["site_id", "applied_at", "id"], unique=False
        )

    op.create_table(
        "merchandising_trees",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("primary", sa.Boolean(), nullable=False),
        sa.Column(
            "facets",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=False,
        ),
        sa.Column(
            "default_landing_rules",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=False,
        ),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_merchandising_trees_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_merchandising_trees")),
        sa.UniqueConstraint("site_id", "name", name=op.f("uq_merchandising_trees_site_id_name")),
    )
    with op.batch_alter_table("merchandising_trees", schema=None) as batch_op:
        batch_op.create_index(
            "uq_merchandising_trees_primary",
            ["site_id"],
            unique=True,
            sqlite_where=sa.text('"primary" = 1'),
            postgresql_where=sa.text('"primary"'),
        )

    op.create_table(
        "pages",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("seo_name", sa.String(length=200), nullable=False),
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("meta_description", sa.String(length=500), nullable=True),
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
        sa.Column(
            "search_terms",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=False,
        ),
        sa.Column("canonical_url", sa.String(length=500), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("taxonomy_level_id", sa.String(length=120), nullable=True),
        sa.Column("completeness_score", sa.Integer(), nullable=True),
        sa.Column(
            "taxonomy_attributes",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=False,
        ),
        sa.Column(
            "archived_taxonomy_data",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=True,
        ),
        sa.CheckConstraint("price >= 0", name=op.f("ck_products_price_not_negative")),
        sa.CheckConstraint("stock is null or stock >= 0", name=op.f("ck_products_stock_not_negative")),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], name=op.f("fk_products_site_id_sites"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_products")),
        sa.UniqueConstraint("site_id", "seo_name", name=op.f("uq_products_site_id_seo_name")),
        sa.UniqueConstraint("site_id", "sku", name=op.f("uq_products_site_id_sku")),
    )
    with op.batch_alter_table("products", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_products_site_id_manufacturer"), ["site_id", "manufacturer"], unique=False)
        batch_op.create_index(batch_op.f("ix_products_site_id_name"), ["site_id", "name"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_products_site_id_taxonomy_level_id_enabled"),
            ["site_id", "taxonomy_level_id", "enabled"],
            unique=False,
        )
        batch_op.create_index(batch_op.f("ix_products_site_id_updated_at"), ["site_id", "updated_at"], unique=False)

    op.create_table(
        "rebuild_runs",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("scope", sa.String(length=16), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("document_count", sa.Integer(), nullable=False),
        sa.Column("total_count", sa.Integer(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("requested_by", sa.String(length=100), nullable=False),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column(
            "generations",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=False,
        ),
        sa.Column("taxonomy_id", sa.String(length=120), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "state in ('waiting', 'running', 'done', 'failed')", name=op.f("ck_rebuild_runs_state_known")
        ),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_rebuild_runs_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rebuild_runs")),
    )
    with op.batch_alter_table("rebuild_runs", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_rebuild_runs_site_id_created_at"), ["site_id", "created_at"], unique=False)
        batch_op.create_index(
            "uq_rebuild_runs_unfinished",
            ["site_id"],
            unique=True,
            sqlite_where=sa.text("state in ('waiting', 'running')"),
            postgresql_where=sa.text("state in ('waiting', 'running')"),
        )

    op.create_table(
        "reconcile_reports",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("missing", sa.Integer(), nullable=False),
        sa.Column("extra", sa.Integer(), nullable=False),
        sa.Column("stale", sa.Integer(), nullable=False),
        sa.Column(
            "examples",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=True,
        ),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_reconcile_reports_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reconcile_reports")),
    )
    with op.batch_alter_table("reconcile_reports", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_reconcile_reports_site_id_at"), ["site_id", "at"], unique=False)

    op.create_table(
        "role_grants",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(length=20), nullable=False),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_role_grants_site_id_sites"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_role_grants_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_role_grants")),
        sa.UniqueConstraint("user_id", "site_id", "role", name=op.f("uq_role_grants_user_id_site_id_role")),
    )
    with op.batch_alter_table("role_grants", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_role_grants_site_id"), ["site_id"], unique=False)

    op.create_table(
        "settings",
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column(
            "value",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=False,
        ),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], name=op.f("fk_settings_site_id_sites"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("site_id", "key", name=op.f("pk_settings")),
    )
    op.create_table(
        "sign_in_sessions",
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("host", sa.String(length=253), nullable=False),
        sa.Column("session_version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_sign_in_sessions_site_id_sites"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_sign_in_sessions_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("token_hash", name=op.f("pk_sign_in_sessions")),
    )
    with op.batch_alter_table("sign_in_sessions", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_sign_in_sessions_last_seen_at"), ["last_seen_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_sign_in_sessions_site_id"), ["site_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_sign_in_sessions_user_id"), ["user_id"], unique=False)

    op.create_table(
        "taxonomies",
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(length=120), nullable=False),
        sa.Column("catalogue_id", sa.String(length=120), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column(
            "root_levels",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=False,
        ),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_taxonomies_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("site_id", "id", name=op.f("pk_taxonomies")),
    )
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
    with op.batch_alter_table("collection_entries", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_collection_entries_product_id"), ["product_id"], unique=False)

    op.create_table(
        "merchandising_nodes",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("tree_id", sa.Integer(), nullable=False),
        sa.Column("parent_id", sa.Integer(), nullable=True),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("slug", sa.String(length=120), nullable=False),
        sa.Column("path", sa.String(length=1000), nullable=False),
        sa.Column("visible", sa.Boolean(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("canonical_override", sa.String(length=500), nullable=True),
        sa.Column("exclude_from_sitemap", sa.Boolean(), nullable=False),
        sa.Column(
            "facets",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=True,
        ),
        sa.Column(
            "landing_rules",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=True,
        ),
        sa.Column(
            "source_levels",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=False,
        ),
        sa.Column(
            "source_manufacturers",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=False,
        ),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["parent_id"],
            ["merchandising_nodes.id"],
            name=op.f("fk_merchandising_nodes_parent_id_merchandising_nodes"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_merchandising_nodes_site_id_sites"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["tree_id"],
            ["merchandising_trees.id"],
            name=op.f("fk_merchandising_nodes_tree_id_merchandising_trees"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_merchandising_nodes")),
        sa.UniqueConstraint("tree_id", "path", name=op.f("uq_merchandising_nodes_tree_id_path")),
    )
    with op.batch_alter_table("merchandising_nodes", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_merchandising_nodes_site_id"), ["site_id"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_merchandising_nodes_tree_id_parent_id_position"),
            ["tree_id", "parent_id", "position"],
            unique=False,
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
    with op.batch_alter_table("product_attribute_values", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_product_attribute_values_site_id_attribute_id_value"),
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
    with op.batch_alter_table("product_images", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_product_images_product_id_position"), ["product_id", "position"], unique=False
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
        sa.Column(
            "options",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=False,
        ),
        sa.ForeignKeyConstraint(
            ["product_id"], ["products.id"], name=op.f("fk_variants_product_id_products"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], name=op.f("fk_variants_site_id_sites"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_variants")),
        sa.UniqueConstraint("site_id", "sku", name=op.f("uq_variants_site_id_sku")),
    )
    with op.batch_alter_table("variants", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_variants_product_id_position"), ["product_id", "position"], unique=False)

    op.create_table(
        "merchandising_placements",
        sa.Column("node_id", sa.Integer(), nullable=False),
        sa.Column("product_id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["node_id"],
            ["merchandising_nodes.id"],
            name=op.f("fk_merchandising_placements_node_id_merchandising_nodes"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["product_id"],
            ["products.id"],
            name=op.f("fk_merchandising_placements_product_id_products"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_merchandising_placements_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("node_id", "product_id", name=op.f("pk_merchandising_placements")),
    )
    with op.batch_alter_table("merchandising_placements", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_merchandising_placements_product_id"), ["product_id"], unique=False)


def downgrade() -> None:
    with op.batch_alter_table("merchandising_placements", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_merchandising_placements_product_id"))

    op.drop_table("merchandising_placements")
    with op.batch_alter_table("variants", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_variants_product_id_position"))

    op.drop_table("variants")
    with op.batch_alter_table("product_images", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_product_images_product_id_position"))

    op.drop_table("product_images")
    with op.batch_alter_table("product_attribute_values", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_product_attribute_values_site_id_attribute_id_value"))

    op.drop_table("product_attribute_values")
    with op.batch_alter_table("merchandising_nodes", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_merchandising_nodes_tree_id_parent_id_position"))
        batch_op.drop_index(batch_op.f("ix_merchandising_nodes_site_id"))

    op.drop_table("merchandising_nodes")
    with op.batch_alter_table("collection_entries", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_collection_entries_product_id"))

    op.drop_table("collection_entries")
    op.drop_table("taxonomies")
    with op.batch_alter_table("sign_in_sessions", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_sign_in_sessions_user_id"))
        batch_op.drop_index(batch_op.f("ix_sign_in_sessions_site_id"))
        batch_op.drop_index(batch_op.f("ix_sign_in_sessions_last_seen_at"))

    op.drop_table("sign_in_sessions")
    op.drop_table("settings")
    with op.batch_alter_table("role_grants", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_role_grants_site_id"))

    op.drop_table("role_grants")
    with op.batch_alter_table("reconcile_reports", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_reconcile_reports_site_id_at"))

    op.drop_table("reconcile_reports")
    with op.batch_alter_table("rebuild_runs", schema=None) as batch_op:
        batch_op.drop_index(
            "uq_rebuild_runs_unfinished",
            sqlite_where=sa.text("state in ('waiting', 'running')"),
            postgresql_where=sa.text("state in ('waiting', 'running')"),
        )
        batch_op.drop_index(batch_op.f("ix_rebuild_runs_site_id_created_at"))

    op.drop_table("rebuild_runs")
    with op.batch_alter_table("products", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_products_site_id_updated_at"))
        batch_op.drop_index(batch_op.f("ix_products_site_id_taxonomy_level_id_enabled"))
        batch_op.drop_index(batch_op.f("ix_products_site_id_name"))
        batch_op.drop_index(batch_op.f("ix_products_site_id_manufacturer"))

    op.drop_table("products")
    op.drop_table("pages")
    with op.batch_alter_table("merchandising_trees", schema=None) as batch_op:
        batch_op.drop_index(
            "uq_merchandising_trees_primary",
            sqlite_where=sa.text('"primary" = 1'),
            postgresql_where=sa.text('"primary"'),
        )

    op.drop_table("merchandising_trees")
    with op.batch_alter_table("index_outbox", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_index_outbox_site_id_applied_at_id"))

    op.drop_table("index_outbox")
    with op.batch_alter_table("domains", schema=None) as batch_op:
        batch_op.drop_index(
            "uq_domains_primary", sqlite_where=sa.text('"primary" = 1'), postgresql_where=sa.text('"primary"')
        )
        batch_op.drop_index(batch_op.f("ix_domains_site_id"))

    op.drop_table("domains")
    op.drop_table("collections")
    with op.batch_alter_table("audit_entries", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_audit_entries_site_id_subject_type_subject_id"))
        batch_op.drop_index(batch_op.f("ix_audit_entries_site_id_at"))

    op.drop_table("audit_entries")
    op.drop_table("users")
    op.drop_table("sites")
    with op.batch_alter_table("sign_in_failures", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_sign_in_failures_key_at"))
        batch_op.drop_index(batch_op.f("ix_sign_in_failures_at"))

    op.drop_table("sign_in_failures")
    op.drop_table("job_slots")
