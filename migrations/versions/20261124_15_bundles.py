"""Imports and exports

Revision: b66f22d0f67e
Follows: 912359e67f5c
Date: 2026-11-24 19:15:00.000000+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "b66f22d0f67e"
down_revision = "912359e67f5c"
branch_labels = None
depends_on = None

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "bundle_runs",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("action", sa.String(length=16), nullable=False),
        sa.Column("is_dry_run", sa.Boolean(), nullable=False),
        sa.Column("parts", JSON, nullable=False),
        sa.Column("removes", sa.Boolean(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("source_site_id", sa.Integer(), nullable=True),
        sa.Column("follows", sa.String(length=36), nullable=True),
        sa.Column("file", sa.String(length=100), nullable=True),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("kept_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("step", sa.String(length=100), nullable=False),
        sa.Column("is_cancelled", sa.Boolean(), nullable=False),
        sa.Column("columns", JSON, nullable=True),
        sa.Column("report", JSON, nullable=True),
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
            "state in ('waiting', 'running', 'done', 'failed')", name=op.f("ck_bundle_runs_state_known")
        ),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_bundle_runs_site_id_sites"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["source_site_id"], ["sites.id"], name=op.f("fk_bundle_runs_source_site_id_sites"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_bundle_runs_user_id_users"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bundle_runs")),
    )
    op.create_index(op.f("ix_bundle_runs_site_id_created_at"), "bundle_runs", ["site_id", "created_at"], unique=False)
    op.create_index(
        "uq_bundle_runs_unfinished",
        "bundle_runs",
        ["site_id"],
        unique=True,
        sqlite_where=sa.text("state in ('waiting', 'running')"),
        postgresql_where=sa.text("state in ('waiting', 'running')"),
    )


def downgrade() -> None:
    op.drop_table("bundle_runs")
