"""Synonyms, rules, golden searches and learning

Revision: ed4bb2262aa4
Follows: c3f7c791afc8
Date: 2026-11-24 19:10:00.000000+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "ed4bb2262aa4"
down_revision = "c3f7c791afc8"
branch_labels = None
depends_on = None

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "forgotten_searches",
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("word", sa.String(length=100), nullable=False),
        sa.Column("through", sa.Date(), nullable=False),
        sa.Column("forgotten_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("forgotten_by", sa.String(length=100), nullable=False),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_forgotten_searches_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("site_id", "word", name=op.f("pk_forgotten_searches")),
    )
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
        "learned_searches",
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("word", sa.String(length=100), nullable=False),
        sa.Column("learned", JSON, nullable=False),
        sa.Column("opens", sa.Integer(), nullable=False),
        sa.Column("learned_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_learned_searches_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("site_id", "word", name=op.f("pk_learned_searches")),
    )
    op.create_table(
        "rejected_suggestions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=32), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_rejected_suggestions_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rejected_suggestions")),
    )
    op.create_index(op.f("ix_rejected_suggestions_site_id"), "rejected_suggestions", ["site_id"], unique=False)
    op.create_table(
        "search_replays",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("proposal", JSON, nullable=False),
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
            "state in ('waiting', 'running', 'done', 'failed')", name=op.f("ck_search_replays_state_known")
        ),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_search_replays_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_search_replays")),
    )
    op.create_index(
        op.f("ix_search_replays_site_id_created_at"), "search_replays", ["site_id", "created_at"], unique=False
    )
    op.create_table(
        "search_rules",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("term", sa.String(length=200), nullable=False),
        sa.Column("normalized_term", sa.String(length=200), nullable=False),
        sa.Column("pins", JSON, nullable=False),
        sa.Column("boosts", JSON, nullable=False),
        sa.Column("buries", JSON, nullable=False),
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
        "suggestion_runs",
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("added", sa.Integer(), nullable=False),
        sa.Column("compared", sa.Integer(), nullable=False),
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
        sa.Column("words", JSON, nullable=False),
        sa.Column("status", sa.String(length=12), nullable=False),
        sa.Column("source", sa.String(length=8), nullable=False),
        sa.Column("evidence", JSON, nullable=True),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("suggested_as", JSON, nullable=False),
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
    op.create_index(op.f("ix_synonyms_site_id_status_id"), "synonyms", ["site_id", "status", "id"], unique=False)


def downgrade() -> None:
    op.drop_table("synonyms")
    op.drop_table("suggestion_runs")
    op.drop_table("search_rules")
    op.drop_table("search_replays")
    op.drop_table("rejected_suggestions")
    op.drop_table("learned_searches")
    op.drop_table("golden_searches")
    op.drop_table("forgotten_searches")
