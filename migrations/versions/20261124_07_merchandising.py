"""Trees, categories and their filters

Revision: 63e08a45eb47
Follows: 6f8041e379c0
Date: 2026-11-24 19:07:00.000000+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "63e08a45eb47"
down_revision = "6f8041e379c0"
branch_labels = None
depends_on = None

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "merchandising_trees",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("primary", sa.Boolean(), nullable=False),
        sa.Column("facets", JSON, nullable=False),
        sa.Column("default_landing_rules", JSON, nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_merchandising_trees_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_merchandising_trees")),
        sa.UniqueConstraint("site_id", "name", name=op.f("uq_merchandising_trees_site_id_name")),
    )
    op.create_index(
        "uq_merchandising_trees_primary",
        "merchandising_trees",
        ["site_id"],
        unique=True,
        sqlite_where=sa.text('"primary" = 1'),
        postgresql_where=sa.text('"primary"'),
    )
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
        sa.Column("meta_title", sa.String(length=300), nullable=True),
        sa.Column("meta_description", sa.String(length=500), nullable=True),
        sa.Column("facets", JSON, nullable=True),
        sa.Column("landing_rules", JSON, nullable=True),
        sa.Column("source_levels", JSON, nullable=False),
        sa.Column("source_manufacturers", JSON, nullable=False),
        sa.Column("revision", sa.Integer(), server_default="1", nullable=False),
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
    op.create_index(op.f("ix_merchandising_nodes_site_id"), "merchandising_nodes", ["site_id"], unique=False)
    op.create_index(
        op.f("ix_merchandising_nodes_tree_id_parent_id_position"),
        "merchandising_nodes",
        ["tree_id", "parent_id", "position"],
        unique=False,
    )
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
    op.create_index(
        op.f("ix_merchandising_placements_product_id"), "merchandising_placements", ["product_id"], unique=False
    )


def downgrade() -> None:
    op.drop_table("merchandising_placements")
    op.drop_table("merchandising_nodes")
    op.drop_table("merchandising_trees")
