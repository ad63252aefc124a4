"""Counts of searches without moments, and of products and rephrasings only where visits share them

Revision: 3f8b1c6d92ea
Follows: 9b41d7e35c60
Date: 2026-11-24 18:30:00.000000+00:00
"""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import sha256

import sqlalchemy as sa
from alembic import op

revision = "3f8b1c6d92ea"
down_revision = "9b41d7e35c60"
branch_labels = None
depends_on = None

# What is taken away is the point: the release before must not write it again.
NEEDS_A_STOP = True


def upgrade() -> None:
    """Counts of products, and of rephrased searches, begin anew: of what was counted nobody knows how many visits of a
    week share it. The rolling sums of words are computed anew from the days."""
    for table in ("search_product_days", "search_rephrasings", "search_word_windows"):
        op.drop_table(table)
    op.create_table(
        "search_product_weeks",
        _site(),
        sa.Column("week", sa.Date(), nullable=False),
        sa.Column("word", sa.String(length=100), nullable=False),
        sa.Column("product_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("opens", sa.Integer(), nullable=False),
        sa.Column("weight", sa.Integer(), nullable=False),
        sa.Column("bought", sa.Integer(), nullable=False),
        sa.CheckConstraint("opens >= 5", name=op.f("ck_search_product_weeks_opens_shared")),
        sa.CheckConstraint("bought = 0 or bought >= 5", name=op.f("ck_search_product_weeks_bought_shared")),
        _of_site("search_product_weeks"),
        sa.PrimaryKeyConstraint("site_id", "week", "word", "product_id", name=op.f("pk_search_product_weeks")),
    )
    op.create_index(
        op.f("ix_search_product_weeks_site_id_word_week"), "search_product_weeks", ["site_id", "word", "week"]
    )
    op.create_table(
        "search_rephrasing_weeks",
        _site(),
        sa.Column("week", sa.Date(), nullable=False),
        sa.Column("word", sa.String(length=100), nullable=False),
        sa.Column("next_word", sa.String(length=100), nullable=False),
        sa.Column("visits", sa.Integer(), nullable=False),
        sa.CheckConstraint("visits >= 5", name=op.f("ck_search_rephrasing_weeks_visits_shared")),
        _of_site("search_rephrasing_weeks"),
        sa.PrimaryKeyConstraint("site_id", "week", "word", "next_word", name=op.f("pk_search_rephrasing_weeks")),
    )
    op.create_table(
        "rejected_suggestions",
        sa.Column("id", sa.Integer(), nullable=False),
        _site(),
        sa.Column("key", sa.String(length=32), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        _of_site("rejected_suggestions"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rejected_suggestions")),
    )
    op.create_index(op.f("ix_rejected_suggestions_site_id"), "rejected_suggestions", ["site_id"])
    _create_windows(sa.Column("last_day", sa.Date(), nullable=False))
    with op.batch_alter_table("search_word_days") as days:
        days.drop_column("last_at")
    _forget_times_of_batches()


def _site() -> sa.Column[int]:
    return sa.Column("site_id", sa.Integer(), nullable=False)


def _of_site(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["site_id"], ["sites.id"], name=op.f(f"fk_{table}_site_id_sites"), ondelete="CASCADE"
    )


def _create_windows(latest: sa.Column[object]) -> None:
    names = ("searches", "found_nothing", "followed", "clicked", "added_to_basket", "ordered")
    op.create_table(
        "search_word_windows",
        _site(),
        sa.Column("days", sa.Integer(), nullable=False),
        sa.Column("word", sa.String(length=100), nullable=False),
        sa.Column("last_result_count", sa.Integer(), nullable=True),
        latest,
        *(sa.Column(name, sa.Integer(), nullable=False) for name in names),
        sa.Column("revenue", sa.BigInteger(), nullable=False),
        sa.Column("ruled", sa.Integer(), nullable=False),
        _of_site("search_word_windows"),
        sa.PrimaryKeyConstraint("site_id", "days", "word", name=op.f("pk_search_word_windows")),
    )
    for name in ("searches", "found_nothing"):
        index = op.f(f"ix_search_word_windows_site_id_days_{name}")
        op.create_index(index, "search_word_windows", ["site_id", "days", name])
    op.execute("UPDATE search_windows SET until = '1970-01-01'")


def _forget_times_of_batches() -> None:
    batches = sa.table("counted_batches", sa.column("id", sa.String), sa.column("at", sa.DateTime(timezone=True)))
    connection = op.get_bind()
    now = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    for (id,) in connection.execute(sa.select(batches.c.id)).all():
        named = {"id": sha256(id.encode()).hexdigest(), "at": now}
        connection.execute(sa.update(batches).where(batches.c.id == id).values(**named))


def downgrade() -> None:
    for table in ("search_product_weeks", "search_rephrasing_weeks", "rejected_suggestions", "search_word_windows"):
        op.drop_table(table)
    op.create_table(
        "search_product_days",
        _site(),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("word", sa.String(length=100), nullable=False),
        sa.Column("product_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("opens", sa.Integer(), nullable=False),
        sa.Column("weight", sa.Integer(), nullable=False),
        sa.Column("bought", sa.Integer(), nullable=False),
        sa.Column("networks", sa.Integer(), server_default="0", nullable=False),
        _of_site("search_product_days"),
        sa.PrimaryKeyConstraint("site_id", "day", "word", "product_id", name=op.f("pk_search_product_days")),
    )
    op.create_index(op.f("ix_search_product_days_site_id_word_day"), "search_product_days", ["site_id", "word", "day"])
    op.create_table(
        "search_rephrasings",
        _site(),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("word", sa.String(length=100), nullable=False),
        sa.Column("next_word", sa.String(length=100), nullable=False),
        sa.Column("visits", sa.Integer(), nullable=False),
        _of_site("search_rephrasings"),
        sa.PrimaryKeyConstraint("site_id", "day", "word", "next_word", name=op.f("pk_search_rephrasings")),
    )
    _create_windows(sa.Column("last_at", sa.DateTime(timezone=True), nullable=False))
    with op.batch_alter_table("search_word_days") as days:
        days.add_column(
            sa.Column("last_at", sa.DateTime(timezone=True), server_default="1970-01-01 00:00:00", nullable=False)
        )
