"""Sitemap builds, site checks, crawler hits, and what categories say of themselves to search engines

Revision: b2e21ef7a071
Follows: 7be4a90c52f1
Date: 2026-11-22 13:30:00+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "b2e21ef7a071"
down_revision = "7be4a90c52f1"
branch_labels = None
depends_on = None


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
    with op.batch_alter_table("site_checks", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_site_checks_site_id_created_at"), ["site_id", "created_at"], unique=False)

    op.create_table(
        "sitemap_builds",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("files", sa.Integer(), nullable=False),
        sa.Column("left_out", sa.Integer(), nullable=False),
        sa.Column("warnings", sa.Text(), nullable=False),
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
    with op.batch_alter_table("sitemap_builds", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_sitemap_builds_site_id_created_at"), ["site_id", "created_at"], unique=False
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
    with op.batch_alter_table("site_check_findings", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_site_check_findings_check_id_kind"), ["check_id", "kind"], unique=False)

    with op.batch_alter_table("merchandising_nodes", schema=None) as batch_op:
        batch_op.add_column(sa.Column("meta_title", sa.String(length=300), nullable=True))
        batch_op.add_column(sa.Column("meta_description", sa.String(length=500), nullable=True))
        batch_op.add_column(sa.Column("revision", sa.Integer(), server_default="1", nullable=False))


def downgrade() -> None:
    with op.batch_alter_table("merchandising_nodes", schema=None) as batch_op:
        batch_op.drop_column("revision")
        batch_op.drop_column("meta_description")
        batch_op.drop_column("meta_title")

    with op.batch_alter_table("site_check_findings", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_site_check_findings_check_id_kind"))

    op.drop_table("site_check_findings")
    with op.batch_alter_table("sitemap_builds", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_sitemap_builds_site_id_created_at"))

    op.drop_table("sitemap_builds")
    with op.batch_alter_table("site_checks", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_site_checks_site_id_created_at"))

    op.drop_table("site_checks")
    op.drop_table("crawler_hits")
