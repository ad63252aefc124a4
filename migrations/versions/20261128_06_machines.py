"""Machines, and what belongs to one of them

Revision: 8d3b61f0a2c7
Follows: 5c2e7fd1b906
Date: 2026-11-28 11:20:00.000000+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "8d3b61f0a2c7"
down_revision = "5c2e7fd1b906"
branch_labels = None
depends_on = None

OPEN = sa.text("ended_at is null and site_id is null")
UNFINISHED = sa.text("state in ('waiting', 'running')")
WITH_MACHINE = ("alerts", "picture_uploads", "bundle_runs", "sitemap_builds")


def upgrade() -> None:
    op.create_table(
        "machines",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("release", sa.String(length=40), nullable=False),
        sa.Column("engine", sa.String(length=20), nullable=False),
        sa.Column("database", sa.String(length=20), nullable=False),
        sa.Column("pictures", sa.String(length=20), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_machines")),
    )
    for table in WITH_MACHINE:
        op.add_column(table, sa.Column("machine", sa.String(length=36), server_default="", nullable=False))
    _replace_indexes(("machine", "cause", "subject"), ("site_id", "machine"))


def downgrade() -> None:
    """One machine remains: of alerts of several about the same fault, and of several builds, the first stays open."""
    op.execute(
        "UPDATE alerts SET ended_at = last_seen_at WHERE ended_at IS NULL AND site_id IS NULL AND id NOT IN "
        "(SELECT min(id) FROM alerts WHERE ended_at IS NULL AND site_id IS NULL GROUP BY cause, subject)"
    )
    op.execute(
        "UPDATE sitemap_builds SET state = 'failed', finished_at = created_at WHERE state IN ('waiting', 'running') "
        "AND id NOT IN (SELECT min(id) FROM sitemap_builds WHERE state IN ('waiting', 'running') GROUP BY site_id)"
    )
    _replace_indexes(("cause", "subject"), ("site_id",))
    for table in WITH_MACHINE:
        op.drop_column(table, "machine")
    op.drop_table("machines")


def _replace_indexes(of_alerts: tuple[str, ...], of_builds: tuple[str, ...]) -> None:
    for table, name, columns, where in (
        ("alerts", "uq_alerts_open_of_machine", of_alerts, OPEN),
        ("sitemap_builds", "uq_sitemap_builds_unfinished", of_builds, UNFINISHED),
    ):
        op.drop_index(name, table_name=table)
        op.create_index(name, table, list(columns), unique=True, sqlite_where=where, postgresql_where=where)
