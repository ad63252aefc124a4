"""Comparisons of rankings by what shoppers open, with daily counts of each side

Revision: b41d7e90c2f5
Follows: 5c1e7d20a9b4
Date: 2026-11-28 17:40:00.000000+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "b41d7e90c2f5"
down_revision = "5c1e7d20a9b4"
branch_labels = None
depends_on = None

RUNNING = sa.text("ended_at is null")


def json_value() -> sa.JSON:
    return sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "ranking_comparisons",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("proposal", json_value(), nullable=False),
        sa.Column("baseline", json_value(), nullable=False),
        sa.Column("share", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_day", sa.Date(), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ending", sa.String(length=20), nullable=True),
        sa.CheckConstraint("share between 1 and 100", name=op.f("ck_ranking_comparisons_share_of_visits")),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_ranking_comparisons_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ranking_comparisons")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_ranking_comparisons_running",
        "ranking_comparisons",
        ["site_id"],
        unique=True,
        sqlite_where=RUNNING,
        postgresql_where=RUNNING,
    )
    op.create_index(op.f("ix_ranking_comparisons_site_id_started_at"), "ranking_comparisons", ["site_id", "started_at"])
    op.create_table(
        "ranking_comparison_days",
        sa.Column("comparison_id", sa.Integer(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("present", sa.Integer(), nullable=False),
        sa.Column("candidate", sa.Integer(), nullable=False),
        sa.Column("ties", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["comparison_id"],
            ["ranking_comparisons.id"],
            name=op.f("fk_ranking_comparison_days_comparison_id_ranking_comparisons"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_ranking_comparison_days_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("comparison_id", "day", name=op.f("pk_ranking_comparison_days")),
    )
    op.create_index(op.f("ix_ranking_comparison_days_site_id"), "ranking_comparison_days", ["site_id"])


def downgrade() -> None:
    op.drop_table("ranking_comparison_days")
    op.drop_table("ranking_comparisons")
