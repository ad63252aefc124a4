"""Judgement lists: searches, ratings of products, and the figures computed by them

Revision: 9b4d6e0c27a3
Follows: 3f7a92c4e1d8
Date: 2026-11-28 17:40:00.000000+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "9b4d6e0c27a3"
down_revision = "3f7a92c4e1d8"
branch_labels = None
depends_on = None

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "judgement_lists",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("combination", sa.String(length=8), nullable=False),
        sa.Column("in_previews", sa.Boolean(), nullable=False),
        sa.Column("largest_drop", sa.Integer(), nullable=True),
        sa.Column("pool_size", sa.Integer(), nullable=False),
        sa.Column("candidate", JSON, nullable=True),
        sa.Column("ratings_version", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_by", sa.String(length=100), nullable=False),
        sa.CheckConstraint("combination in ('mean', 'median')", name=op.f("ck_judgement_lists_combination_known")),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_judgement_lists_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judgement_lists")),
        sa.UniqueConstraint("site_id", "name", name=op.f("uq_judgement_lists_site_id_name")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "judged_searches",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("list_id", sa.Integer(), nullable=False),
        sa.Column("query", sa.String(length=200), nullable=False),
        sa.Column("normalized_query", sa.String(length=200), nullable=False),
        sa.ForeignKeyConstraint(
            ["list_id"],
            ["judgement_lists.id"],
            name=op.f("fk_judged_searches_list_id_judgement_lists"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_judged_searches_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judged_searches")),
        sa.UniqueConstraint("list_id", "normalized_query", name=op.f("uq_judged_searches_list_id_normalized_query")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_judged_searches_site_id"), "judged_searches", ["site_id"])
    op.create_table(
        "product_ratings",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("search_id", sa.Integer(), nullable=False),
        sa.Column("sku", sa.String(length=64), nullable=False),
        sa.Column("rater_id", sa.Integer(), nullable=True),
        sa.Column("rater", sa.String(length=100), nullable=False),
        sa.Column("rating", sa.Integer(), nullable=False),
        sa.Column("rated_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("rating between 0 and 3", name=op.f("ck_product_ratings_rating_known")),
        sa.ForeignKeyConstraint(
            ["rater_id"], ["users.id"], name=op.f("fk_product_ratings_rater_id_users"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["search_id"],
            ["judged_searches.id"],
            name=op.f("fk_product_ratings_search_id_judged_searches"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_product_ratings_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_product_ratings")),
        sa.UniqueConstraint("search_id", "sku", "rater_id", name=op.f("uq_product_ratings_search_id_sku_rater_id")),
    )
    op.create_index(op.f("ix_product_ratings_rater_id"), "product_ratings", ["rater_id"])
    op.create_index(op.f("ix_product_ratings_site_id"), "product_ratings", ["site_id"])
    op.create_table(
        "judgement_runs",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("list_id", sa.Integer(), nullable=False),
        sa.Column("proposal", JSON, nullable=True),
        sa.Column("depends_on", sa.String(length=64), nullable=False),
        sa.Column("report", JSON, nullable=False),
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
            "state in ('waiting', 'running', 'done', 'failed')", name=op.f("ck_judgement_runs_state_known")
        ),
        sa.ForeignKeyConstraint(
            ["list_id"],
            ["judgement_lists.id"],
            name=op.f("fk_judgement_runs_list_id_judgement_lists"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_judgement_runs_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judgement_runs")),
    )
    op.create_index(op.f("ix_judgement_runs_list_id_created_at"), "judgement_runs", ["list_id", "created_at"])
    op.create_index(op.f("ix_judgement_runs_site_id"), "judgement_runs", ["site_id"])


def downgrade() -> None:
    op.drop_table("judgement_runs")
    op.drop_table("product_ratings")
    op.drop_table("judged_searches")
    op.drop_table("judgement_lists")
