"""Taxonomy revisions, drafts and tasks; stored events; API sessions

Revision: 33564384ff9d
Follows: 698de4f1e880
Date: 2026-11-21 14:50:41.847901+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "33564384ff9d"
down_revision = "698de4f1e880"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "api_sessions",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("refresh_hash", sa.String(length=64), nullable=False),
        sa.Column("device_id", sa.String(length=100), nullable=True),
        sa.Column("device_name", sa.String(length=100), nullable=True),
        sa.Column("audience", sa.String(length=20), nullable=False),
        sa.Column("session_version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_because", sa.String(length=100), nullable=True),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_api_sessions_site_id_sites"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_api_sessions_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_sessions")),
        sa.UniqueConstraint("refresh_hash", name=op.f("uq_api_sessions_refresh_hash")),
    )
    with op.batch_alter_table("api_sessions", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_api_sessions_expires_at"), ["expires_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_api_sessions_site_id"), ["site_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_api_sessions_user_id"), ["user_id"], unique=False)

    op.create_table(
        "stored_events",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column(
            "payload",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=False,
        ),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("next_try_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_stored_events_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_stored_events")),
    )
    with op.batch_alter_table("stored_events", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_stored_events_site_id"), ["site_id"], unique=False)

    op.create_table(
        "taxonomy_tasks",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column(
            "parameters",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=False,
        ),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("reached", sa.Integer(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=True),
        sa.Column(
            "report",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=False,
        ),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("requested_by", sa.String(length=100), nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("refused_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "state in ('waiting', 'running', 'done', 'failed')", name=op.f("ck_taxonomy_tasks_state_known")
        ),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_taxonomy_tasks_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_taxonomy_tasks")),
    )
    with op.batch_alter_table("taxonomy_tasks", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_taxonomy_tasks_site_id_created_at"), ["site_id", "created_at"], unique=False
        )
        batch_op.create_index(batch_op.f("ix_taxonomy_tasks_state"), ["state"], unique=False)

    op.create_table(
        "taxonomy_drafts",
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("taxonomy_id", sa.String(length=120), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("base_revision", sa.Integer(), nullable=False),
        sa.Column(
            "steps",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=False,
        ),
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
        sa.Column(
            "root_levels",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=False,
        ),
        sa.Column(
            "changes",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=False,
        ),
        sa.Column(
            "renames",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=False,
        ),
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
    with op.batch_alter_table("products", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_products_site_id_completeness_score"), ["site_id", "completeness_score"], unique=False
        )


def downgrade() -> None:
    with op.batch_alter_table("products", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_products_site_id_completeness_score"))

    op.drop_table("taxonomy_revisions")
    op.drop_table("taxonomy_drafts")
    with op.batch_alter_table("taxonomy_tasks", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_taxonomy_tasks_state"))
        batch_op.drop_index(batch_op.f("ix_taxonomy_tasks_site_id_created_at"))

    op.drop_table("taxonomy_tasks")
    with op.batch_alter_table("stored_events", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_stored_events_site_id"))

    op.drop_table("stored_events")
    with op.batch_alter_table("api_sessions", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_api_sessions_user_id"))
        batch_op.drop_index(batch_op.f("ix_api_sessions_site_id"))
        batch_op.drop_index(batch_op.f("ix_api_sessions_expires_at"))

    op.drop_table("api_sessions")
