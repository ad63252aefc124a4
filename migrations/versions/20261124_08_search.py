"""Indexes, outbox and the serving configuration

Revision: 1f8e0b97851f
Follows: 63e08a45eb47
Date: 2026-11-24 19:08:00.000000+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "1f8e0b97851f"
down_revision = "63e08a45eb47"
branch_labels = None
depends_on = None

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


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
    op.create_index(
        op.f("ix_index_outbox_site_id_applied_at_id"), "index_outbox", ["site_id", "applied_at", "id"], unique=False
    )
    op.create_table(
        "rebuild_runs",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("scope", sa.String(length=16), nullable=False),
        sa.Column("queued_scope", sa.String(length=16), nullable=True),
        sa.Column("queued_by", sa.String(length=100), nullable=True),
        sa.Column("for_model", sa.Text(), nullable=True),
        sa.Column("generations", JSON, nullable=False),
        sa.Column("taxonomy_id", sa.String(length=120), nullable=True),
        sa.Column("blocked", sa.Boolean(), nullable=False),
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
            "state in ('waiting', 'running', 'done', 'failed')", name=op.f("ck_rebuild_runs_state_known")
        ),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_rebuild_runs_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rebuild_runs")),
    )
    op.create_index(op.f("ix_rebuild_runs_site_id_created_at"), "rebuild_runs", ["site_id", "created_at"], unique=False)
    op.create_index(
        "uq_rebuild_runs_unfinished",
        "rebuild_runs",
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
        sa.Column("examples", JSON, nullable=True),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_reconcile_reports_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reconcile_reports")),
    )
    op.create_index(op.f("ix_reconcile_reports_site_id_at"), "reconcile_reports", ["site_id", "at"], unique=False)
    op.create_table(
        "served_words",
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("saved_version", sa.Integer(), nullable=False),
        sa.Column("live_version", sa.Integer(), nullable=False),
        sa.Column("synonyms", JSON, nullable=False),
        sa.Column("rules", JSON, nullable=False),
        sa.Column("learned", JSON, nullable=False),
        sa.Column("learning_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("published_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_served_words_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("site_id", name=op.f("pk_served_words")),
    )


def downgrade() -> None:
    op.drop_table("served_words")
    op.drop_table("reconcile_reports")
    op.drop_table("rebuild_runs")
    op.drop_table("index_outbox")
    op.drop_table("job_slots")
