"""Sitemaps, site checks and visits of crawlers

Revision: bf57dd2772d3
Follows: ed4bb2262aa4
Date: 2026-11-24 19:11:00.000000+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "bf57dd2772d3"
down_revision = "ed4bb2262aa4"
branch_labels = None
depends_on = None

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "crawler_hits",
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("family", sa.String(length=32), nullable=False),
        sa.Column("parameter", sa.String(length=64), nullable=False),
        sa.Column("hits", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_crawler_hits_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("site_id", "day", "family", "parameter", name=op.f("pk_crawler_hits")),
    )
    op.create_table(
        "site_checks",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("findings", sa.Integer(), nullable=False),
        sa.Column("counts", JSON, nullable=False),
        sa.Column("unvisited", sa.Integer(), nullable=False),
        sa.Column("progress", sa.LargeBinary(), nullable=True),
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
            "state in ('waiting', 'running', 'done', 'failed')", name=op.f("ck_site_checks_state_known")
        ),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_site_checks_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_site_checks")),
    )
    op.create_index(op.f("ix_site_checks_site_id_created_at"), "site_checks", ["site_id", "created_at"], unique=False)
    op.create_index(
        "uq_site_checks_unfinished",
        "site_checks",
        ["site_id"],
        unique=True,
        sqlite_where=sa.text("state in ('waiting', 'running')"),
        postgresql_where=sa.text("state in ('waiting', 'running')"),
    )
    op.create_table(
        "sitemap_builds",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("files", sa.Integer(), nullable=False),
        sa.Column("left_out", sa.Integer(), nullable=False),
        sa.Column("warnings", sa.Text(), nullable=False),
        sa.Column("search_was_away", sa.Boolean(), nullable=False),
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
            "state in ('waiting', 'running', 'done', 'failed')", name=op.f("ck_sitemap_builds_state_known")
        ),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_sitemap_builds_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sitemap_builds")),
    )
    op.create_index(
        op.f("ix_sitemap_builds_site_id_created_at"), "sitemap_builds", ["site_id", "created_at"], unique=False
    )
    op.create_index(
        "uq_sitemap_builds_unfinished",
        "sitemap_builds",
        ["site_id"],
        unique=True,
        sqlite_where=sa.text("state in ('waiting', 'running')"),
        postgresql_where=sa.text("state in ('waiting', 'running')"),
    )
    op.create_table(
        "site_check_findings",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("check_id", sa.String(length=36), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("url", sa.String(length=2000), nullable=False),
        sa.Column("linked_from", sa.String(length=2000), nullable=False),
        sa.Column("detail", sa.String(length=1000), nullable=False),
        sa.ForeignKeyConstraint(
            ["check_id"],
            ["site_checks.id"],
            name=op.f("fk_site_check_findings_check_id_site_checks"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_site_check_findings_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_site_check_findings")),
    )
    op.create_index(
        op.f("ix_site_check_findings_check_id_kind"), "site_check_findings", ["check_id", "kind"], unique=False
    )


def downgrade() -> None:
    op.drop_table("site_check_findings")
    op.drop_table("sitemap_builds")
    op.drop_table("site_checks")
    op.drop_table("crawler_hits")
