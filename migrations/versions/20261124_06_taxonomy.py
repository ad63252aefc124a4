"""Taxonomies, drafts and tasks

Revision: 6f8041e379c0
Follows: cda8e6321f45
Date: 2026-11-24 19:06:00.000000+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "6f8041e379c0"
down_revision = "cda8e6321f45"
branch_labels = None
depends_on = None

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "taxonomies",
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(length=120), nullable=False),
        sa.Column("catalogue_id", sa.String(length=120), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("root_levels", JSON, nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_taxonomies_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("site_id", "id", name=op.f("pk_taxonomies")),
    )
    op.create_table(
        "taxonomy_tasks",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("parameters", JSON, nullable=False),
        sa.Column("reached", sa.Integer(), nullable=False),
        sa.Column("report", JSON, nullable=False),
        sa.Column("refused_since", sa.DateTime(timezone=True), nullable=True),
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
            "state in ('waiting', 'running', 'done', 'failed')", name=op.f("ck_taxonomy_tasks_state_known")
        ),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_taxonomy_tasks_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_taxonomy_tasks")),
    )
    op.create_index(
        op.f("ix_taxonomy_tasks_site_id_created_at"), "taxonomy_tasks", ["site_id", "created_at"], unique=False
    )
    op.create_index(op.f("ix_taxonomy_tasks_state"), "taxonomy_tasks", ["state"], unique=False)
    op.create_table(
        "taxonomy_drafts",
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("taxonomy_id", sa.String(length=120), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("base_revision", sa.Integer(), nullable=False),
        sa.Column("steps", JSON, nullable=False),
        sa.Column("applied", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["site_id", "taxonomy_id"],
            ["taxonomies.site_id", "taxonomies.id"],
            name=op.f("fk_taxonomy_drafts_site_id_taxonomy_id_taxonomies"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_taxonomy_drafts_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("site_id", "taxonomy_id", "user_id", name=op.f("pk_taxonomy_drafts")),
    )
    op.create_table(
        "taxonomy_revisions",
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("taxonomy_id", sa.String(length=120), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("root_levels", JSON, nullable=False),
        sa.Column("changes", JSON, nullable=False),
        sa.Column("renames", JSON, nullable=False),
        sa.Column("note", sa.String(length=500), nullable=False),
        sa.Column("saved_by", sa.String(length=100), nullable=False),
        sa.Column("saved_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["site_id", "taxonomy_id"],
            ["taxonomies.site_id", "taxonomies.id"],
            name=op.f("fk_taxonomy_revisions_site_id_taxonomy_id_taxonomies"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("site_id", "taxonomy_id", "revision", name=op.f("pk_taxonomy_revisions")),
    )


def downgrade() -> None:
    op.drop_table("taxonomy_revisions")
    op.drop_table("taxonomy_drafts")
    op.drop_table("taxonomy_tasks")
    op.drop_table("taxonomies")
