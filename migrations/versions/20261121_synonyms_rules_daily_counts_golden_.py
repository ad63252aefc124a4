"""Synonyms, rules, daily counts, golden searches, replays, orders

Revision: a6dfe044f05c
Follows: 33564384ff9d
Date: 2026-11-21 18:28:43.279054+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "a6dfe044f05c"
down_revision = "33564384ff9d"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "counted_batches",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_counted_batches")),
    )
    with op.batch_alter_table("counted_batches", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_counted_batches_at"), ["at"], unique=False)

    op.create_table(
        "golden_searches",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("query", sa.String(length=200), nullable=False),
        sa.Column("sku", sa.String(length=64), nullable=False),
        sa.Column("within", sa.Integer(), nullable=False),
        sa.Column("passes", sa.Boolean(), nullable=True),
        sa.Column("rank", sa.Integer(), nullable=True),
        sa.Column("checked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("failing_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_by", sa.String(length=100), nullable=False),
        sa.CheckConstraint("within > 0", name=op.f("ck_golden_searches_within_one")),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_golden_searches_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_golden_searches")),
        sa.UniqueConstraint("site_id", "query", "sku", name=op.f("uq_golden_searches_site_id_query_sku")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "order_numbers",
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("next", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_order_numbers_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("site_id", name=op.f("pk_order_numbers")),
    )
    op.create_table(
        "orders",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=True),
        sa.Column("channel", sa.String(length=8), nullable=False),
        sa.Column("status", sa.String(length=12), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=True),
        sa.Column("contact_name", sa.String(length=100), nullable=False),
        sa.Column("contact_email", sa.String(length=254), nullable=False),
        sa.Column("contact_phone", sa.String(length=40), nullable=False),
        sa.Column("note", sa.String(length=500), nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("submitted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("settled_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("channel in ('WEB', 'POS')", name=op.f("ck_orders_channel_known")),
        sa.CheckConstraint(
            "status in ('OPEN', 'SUBMITTED', 'COLLECTED', 'CANCELLED')", name=op.f("ck_orders_status_known")
        ),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], name=op.f("fk_orders_site_id_sites"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_orders")),
        sa.UniqueConstraint("site_id", "number", name=op.f("uq_orders_site_id_number")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_orders_token_hash")),
    )
    with op.batch_alter_table("orders", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_orders_site_id_status_submitted_at"), ["site_id", "status", "submitted_at"], unique=False
        )
        batch_op.create_index(
            batch_op.f("ix_orders_site_id_status_updated_at"), ["site_id", "status", "updated_at"], unique=False
        )

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
        "search_replays",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column(
            "proposal",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=False,
        ),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=True),
        sa.Column(
            "report",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=False,
        ),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("requested_by", sa.String(length=100), nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "state in ('waiting', 'running', 'done', 'failed')", name=op.f("ck_search_replays_state_known")
        ),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_search_replays_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_search_replays")),
    )
    with op.batch_alter_table("search_replays", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_search_replays_site_id_created_at"), ["site_id", "created_at"], unique=False
        )

    op.create_table(
        "search_rules",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("term", sa.String(length=200), nullable=False),
        sa.Column("normalized_term", sa.String(length=200), nullable=False),
        sa.Column(
            "pins",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=False,
        ),
        sa.Column(
            "boosts",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=False,
        ),
        sa.Column(
            "buries",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=False,
        ),
        sa.Column("redirect_url", sa.String(length=500), nullable=True),
        sa.Column("banner_text", sa.String(length=500), nullable=True),
        sa.Column("banner_link_url", sa.String(length=500), nullable=True),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("starts_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ends_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("words_version", sa.Integer(), nullable=False),
        sa.Column("live_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_by", sa.String(length=100), nullable=False),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_search_rules_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_search_rules")),
        sa.UniqueConstraint("site_id", "normalized_term", name=op.f("uq_search_rules_site_id_normalized_term")),
        sqlite_autoincrement=True,
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
        sa.Column("last_at", sa.DateTime(timezone=True), nullable=False),
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
    with op.batch_alter_table("search_word_days", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_search_word_days_site_id_word_day"), ["site_id", "word", "day"], unique=False
        )

    op.create_table(
        "search_word_windows",
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("days", sa.Integer(), nullable=False),
        sa.Column("word", sa.String(length=100), nullable=False),
        sa.Column("last_result_count", sa.Integer(), nullable=True),
        sa.Column("last_at", sa.DateTime(timezone=True), nullable=False),
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
    with op.batch_alter_table("search_word_windows", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_search_word_windows_site_id_days_found_nothing"),
            ["site_id", "days", "found_nothing"],
            unique=False,
        )
        batch_op.create_index(
            batch_op.f("ix_search_word_windows_site_id_days_searches"), ["site_id", "days", "searches"], unique=False
        )

    op.create_table(
        "served_words",
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("saved_version", sa.Integer(), nullable=False),
        sa.Column("live_version", sa.Integer(), nullable=False),
        sa.Column(
            "synonyms",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=False,
        ),
        sa.Column(
            "rules",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=False,
        ),
        sa.Column("published_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_served_words_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("site_id", name=op.f("pk_served_words")),
    )
    op.create_table(
        "suggestion_runs",
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("requested_by", sa.String(length=100), nullable=False),
        sa.Column("requested_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("added", sa.Integer(), nullable=False),
        sa.Column("compared", sa.Integer(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "state in ('waiting', 'running', 'done', 'failed')", name=op.f("ck_suggestion_runs_state_known")
        ),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_suggestion_runs_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("site_id", name=op.f("pk_suggestion_runs")),
    )
    op.create_table(
        "synonyms",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("type", sa.String(length=12), nullable=False),
        sa.Column("root", sa.String(length=200), nullable=True),
        sa.Column(
            "words",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=False,
        ),
        sa.Column("status", sa.String(length=12), nullable=False),
        sa.Column("source", sa.String(length=8), nullable=False),
        sa.Column(
            "evidence",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=True,
        ),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column(
            "suggested_as",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=False,
        ),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("words_version", sa.Integer(), nullable=False),
        sa.Column("live_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_by", sa.String(length=100), nullable=False),
        sa.CheckConstraint("source in ('MANUAL', 'AI', 'MINED')", name=op.f("ck_synonyms_source_known")),
        sa.CheckConstraint("status in ('LIVE', 'SUGGESTED', 'REJECTED')", name=op.f("ck_synonyms_status_known")),
        sa.CheckConstraint("type in ('EQUIVALENT', 'ONE_WAY')", name=op.f("ck_synonyms_type_known")),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], name=op.f("fk_synonyms_site_id_sites"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_synonyms")),
        sa.UniqueConstraint("site_id", "fingerprint", name=op.f("uq_synonyms_site_id_fingerprint")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("synonyms", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_synonyms_site_id_status_id"), ["site_id", "status", "id"], unique=False)

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
    with op.batch_alter_table("search_term_starts", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_search_term_starts_site_id"), ["site_id"], unique=False)

    op.create_table(
        "order_lines",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("order_id", sa.String(length=36), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("product_id", sa.Integer(), nullable=True),
        sa.Column("variant_id", sa.Integer(), nullable=True),
        sa.Column("sku", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=300), nullable=False),
        sa.Column(
            "options",
            sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql"),
            nullable=False,
        ),
        sa.Column("quantity", sa.Integer(), nullable=False),
        sa.Column("stock_taken", sa.Integer(), nullable=False),
        sa.Column("unit_price", sa.Integer(), nullable=False),
        sa.CheckConstraint("quantity > 0", name=op.f("ck_order_lines_quantity_positive")),
        sa.ForeignKeyConstraint(
            ["order_id"], ["orders.id"], name=op.f("fk_order_lines_order_id_orders"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["product_id"], ["products.id"], name=op.f("fk_order_lines_product_id_products"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_order_lines_site_id_sites"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["variant_id"], ["variants.id"], name=op.f("fk_order_lines_variant_id_variants"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_order_lines")),
    )
    with op.batch_alter_table("order_lines", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_order_lines_order_id_position"), ["order_id", "position"], unique=False)
        batch_op.create_index(batch_op.f("ix_order_lines_product_id"), ["product_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_order_lines_variant_id"), ["variant_id"], unique=False)


def downgrade() -> None:
    with op.batch_alter_table("order_lines", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_order_lines_variant_id"))
        batch_op.drop_index(batch_op.f("ix_order_lines_product_id"))
        batch_op.drop_index(batch_op.f("ix_order_lines_order_id_position"))

    op.drop_table("order_lines")
    with op.batch_alter_table("search_term_starts", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_search_term_starts_site_id"))

    op.drop_table("search_term_starts")
    with op.batch_alter_table("synonyms", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_synonyms_site_id_status_id"))

    op.drop_table("synonyms")
    op.drop_table("suggestion_runs")
    op.drop_table("served_words")
    with op.batch_alter_table("search_word_windows", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_search_word_windows_site_id_days_searches"))
        batch_op.drop_index(batch_op.f("ix_search_word_windows_site_id_days_found_nothing"))

    op.drop_table("search_word_windows")
    with op.batch_alter_table("search_word_days", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_search_word_days_site_id_word_day"))

    op.drop_table("search_word_days")
    op.drop_table("search_windows")
    op.drop_table("search_rules")
    with op.batch_alter_table("search_replays", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_search_replays_site_id_created_at"))

    op.drop_table("search_replays")
    op.drop_table("search_days")
    with op.batch_alter_table("orders", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_orders_site_id_status_updated_at"))
        batch_op.drop_index(batch_op.f("ix_orders_site_id_status_submitted_at"))

    op.drop_table("orders")
    op.drop_table("order_numbers")
    op.drop_table("golden_searches")
    with op.batch_alter_table("counted_batches", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_counted_batches_at"))

    op.drop_table("counted_batches")
