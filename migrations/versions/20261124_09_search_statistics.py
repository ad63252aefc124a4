"""Counts of searches

Revision: c3f7c791afc8
Follows: 1f8e0b97851f
Date: 2026-11-24 19:09:00.000000+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "c3f7c791afc8"
down_revision = "1f8e0b97851f"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "counted_batches",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_counted_batches")),
    )
    op.create_index(op.f("ix_counted_batches_at"), "counted_batches", ["at"], unique=False)
    op.create_table(
        "search_days",
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("words", sa.Integer(), nullable=False),
        sa.Column("searches", sa.Integer(), nullable=False),
        sa.Column("found_nothing", sa.Integer(), nullable=False),
        sa.Column("followed", sa.Integer(), nullable=False),
        sa.Column("clicked", sa.Integer(), nullable=False),
        sa.Column("added_to_basket", sa.Integer(), nullable=False),
        sa.Column("ordered", sa.Integer(), nullable=False),
        sa.Column("revenue", sa.BigInteger(), nullable=False),
        sa.Column("ruled", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_search_days_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("site_id", "day", name=op.f("pk_search_days")),
    )
    op.create_table(
        "search_product_weeks",
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("week", sa.Date(), nullable=False),
        sa.Column("word", sa.String(length=100), nullable=False),
        sa.Column("product_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("opens", sa.Integer(), nullable=False),
        sa.Column("weight", sa.Integer(), nullable=False),
        sa.Column("bought", sa.Integer(), nullable=False),
        sa.CheckConstraint("bought = 0 or bought >= 5", name=op.f("ck_search_product_weeks_bought_shared")),
        sa.CheckConstraint("opens >= 5", name=op.f("ck_search_product_weeks_opens_shared")),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_search_product_weeks_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("site_id", "week", "word", "product_id", name=op.f("pk_search_product_weeks")),
    )
    op.create_index(
        op.f("ix_search_product_weeks_site_id_word_week"),
        "search_product_weeks",
        ["site_id", "word", "week"],
        unique=False,
    )
    op.create_table(
        "search_rephrasing_weeks",
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("week", sa.Date(), nullable=False),
        sa.Column("word", sa.String(length=100), nullable=False),
        sa.Column("next_word", sa.String(length=100), nullable=False),
        sa.Column("visits", sa.Integer(), nullable=False),
        sa.CheckConstraint("visits >= 5", name=op.f("ck_search_rephrasing_weeks_visits_shared")),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_search_rephrasing_weeks_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("site_id", "week", "word", "next_word", name=op.f("pk_search_rephrasing_weeks")),
    )
    op.create_table(
        "search_suggestion_days",
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("shown", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_search_suggestion_days_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("site_id", "day", name=op.f("pk_search_suggestion_days")),
    )
    op.create_table(
        "search_windows",
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("until", sa.Date(), nullable=False),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_search_windows_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("site_id", name=op.f("pk_search_windows")),
    )
    op.create_table(
        "search_word_days",
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("word", sa.String(length=100), nullable=False),
        sa.Column("last_result_count", sa.Integer(), nullable=True),
        sa.Column("networks", sa.Integer(), server_default="0", nullable=False),
        sa.Column("searches", sa.Integer(), nullable=False),
        sa.Column("found_nothing", sa.Integer(), nullable=False),
        sa.Column("followed", sa.Integer(), nullable=False),
        sa.Column("clicked", sa.Integer(), nullable=False),
        sa.Column("added_to_basket", sa.Integer(), nullable=False),
        sa.Column("ordered", sa.Integer(), nullable=False),
        sa.Column("revenue", sa.BigInteger(), nullable=False),
        sa.Column("ruled", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_search_word_days_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("site_id", "day", "word", name=op.f("pk_search_word_days")),
    )
    op.create_index(
        op.f("ix_search_word_days_site_id_word_day"), "search_word_days", ["site_id", "word", "day"], unique=False
    )
    op.create_table(
        "search_word_windows",
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("days", sa.Integer(), nullable=False),
        sa.Column("word", sa.String(length=100), nullable=False),
        sa.Column("last_result_count", sa.Integer(), nullable=True),
        sa.Column("last_day", sa.Date(), nullable=False),
        sa.Column("searches", sa.Integer(), nullable=False),
        sa.Column("found_nothing", sa.Integer(), nullable=False),
        sa.Column("followed", sa.Integer(), nullable=False),
        sa.Column("clicked", sa.Integer(), nullable=False),
        sa.Column("added_to_basket", sa.Integer(), nullable=False),
        sa.Column("ordered", sa.Integer(), nullable=False),
        sa.Column("revenue", sa.BigInteger(), nullable=False),
        sa.Column("ruled", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_search_word_windows_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("site_id", "days", "word", name=op.f("pk_search_word_windows")),
    )
    op.create_index(
        op.f("ix_search_word_windows_site_id_days_found_nothing"),
        "search_word_windows",
        ["site_id", "days", "found_nothing"],
        unique=False,
    )
    op.create_index(
        op.f("ix_search_word_windows_site_id_days_searches"),
        "search_word_windows",
        ["site_id", "days", "searches"],
        unique=False,
    )
    op.create_table(
        "search_term_starts",
        sa.Column("product_id", sa.Integer(), nullable=False),
        sa.Column("term", sa.String(length=100), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["product_id"], ["products.id"], name=op.f("fk_search_term_starts_product_id_products"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_search_term_starts_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("product_id", "term", name=op.f("pk_search_term_starts")),
    )
    op.create_index(op.f("ix_search_term_starts_site_id"), "search_term_starts", ["site_id"], unique=False)


def downgrade() -> None:
    op.drop_table("search_term_starts")
    op.drop_table("search_word_windows")
    op.drop_table("search_word_days")
    op.drop_table("search_windows")
    op.drop_table("search_suggestion_days")
    op.drop_table("search_rephrasing_weeks")
    op.drop_table("search_product_weeks")
    op.drop_table("search_days")
    op.drop_table("counted_batches")
