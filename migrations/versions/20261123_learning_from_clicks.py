"""Learning from clicks: counts by product, what was learned, what was forgotten

Revision: 1f6b8c03e7d5
Follows: 8f2b6c41d7ae
Date: 2026-11-23 03:20:00+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "1f6b8c03e7d5"
down_revision = "8f2b6c41d7ae"
branch_labels = None
depends_on = None

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "search_product_days",
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("word", sa.String(length=100), nullable=False),
        sa.Column("product_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("opens", sa.Integer(), nullable=False),
        sa.Column("weight", sa.Integer(), nullable=False),
        sa.Column("bought", sa.Integer(), nullable=False),
        _of_site("search_product_days"),
        sa.PrimaryKeyConstraint("site_id", "day", "word", "product_id", name=op.f("pk_search_product_days")),
    )
    op.create_index(op.f("ix_search_product_days_site_id_word_day"), "search_product_days", ["site_id", "word", "day"])
    op.create_table(
        "learned_searches",
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("word", sa.String(length=100), nullable=False),
        sa.Column("learned", JSON, nullable=False),
        sa.Column("opens", sa.Integer(), nullable=False),
        sa.Column("learned_at", sa.DateTime(timezone=True), nullable=False),
        _of_site("learned_searches"),
        sa.PrimaryKeyConstraint("site_id", "word", name=op.f("pk_learned_searches")),
    )
    op.create_table(
        "forgotten_searches",
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("word", sa.String(length=100), nullable=False),
        sa.Column("through", sa.Date(), nullable=False),
        sa.Column("forgotten_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("forgotten_by", sa.String(length=100), nullable=False),
        _of_site("forgotten_searches"),
        sa.PrimaryKeyConstraint("site_id", "word", name=op.f("pk_forgotten_searches")),
    )
    with op.batch_alter_table("served_words", schema=None) as batch_op:
        batch_op.add_column(sa.Column("learned", JSON, nullable=False, server_default="{}"))
        batch_op.add_column(sa.Column("learning_since", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("served_words", schema=None) as batch_op:
        batch_op.drop_column("learning_since")
        batch_op.drop_column("learned")
    op.drop_table("forgotten_searches")
    op.drop_table("learned_searches")
    op.drop_table("search_product_days")


def _of_site(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["site_id"], ["sites.id"], name=op.f(f"fk_{table}_site_id_sites"), ondelete="CASCADE"
    )
