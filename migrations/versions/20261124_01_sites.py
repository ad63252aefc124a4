"""Sites, users, sessions and the activity log

Revision: 4aface0772ed
Follows: nothing
Date: 2026-11-24 19:01:00.000000+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "4aface0772ed"
down_revision = None
branch_labels = None
depends_on = None

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "sign_in_failures",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=300), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sign_in_failures")),
    )
    op.create_index(op.f("ix_sign_in_failures_at"), "sign_in_failures", ["at"], unique=False)
    op.create_index(op.f("ix_sign_in_failures_key_at"), "sign_in_failures", ["key", "at"], unique=False)
    op.create_table(
        "sites",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("time_zone", sa.String(length=64), nullable=False),
        sa.Column("staging", sa.Boolean(), nullable=False),
        sa.Column("capabilities", JSON, nullable=False),
        sa.Column("config_version", sa.Integer(), nullable=False),
        sa.Column("index_version", sa.Integer(), server_default="0", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sites")),
    )
    op.create_table(
        "users",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("display_name", sa.String(length=100), nullable=False),
        sa.Column("password_hash", sa.String(length=200), nullable=True),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("session_version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_users")),
        sa.UniqueConstraint("email", name=op.f("uq_users_email")),
    )
    op.create_table(
        "api_sessions",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("refresh_hash", sa.String(length=64), nullable=False),
        sa.Column("device_id", sa.String(length=100), nullable=True),
        sa.Column("device_name", sa.String(length=100), nullable=True),
        sa.Column("audience", sa.String(length=20), nullable=False),
        sa.Column("session_version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_because", sa.String(length=100), nullable=True),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_api_sessions_site_id_sites"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_api_sessions_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_sessions")),
        sa.UniqueConstraint("refresh_hash", name=op.f("uq_api_sessions_refresh_hash")),
    )
    op.create_index(op.f("ix_api_sessions_expires_at"), "api_sessions", ["expires_at"], unique=False)
    op.create_index(op.f("ix_api_sessions_site_id"), "api_sessions", ["site_id"], unique=False)
    op.create_index(op.f("ix_api_sessions_user_id"), "api_sessions", ["user_id"], unique=False)
    op.create_table(
        "audit_entries",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor", sa.String(length=100), nullable=False),
        sa.Column("action", sa.String(length=64), nullable=False),
        sa.Column("subject_type", sa.String(length=32), nullable=False),
        sa.Column("subject_id", sa.String(length=120), nullable=False),
        sa.Column("summary", sa.String(length=500), nullable=False),
        sa.Column("before", JSON, nullable=True),
        sa.Column("after", JSON, nullable=True),
        sa.Column("origin", sa.String(length=16), nullable=True),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_audit_entries_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_entries")),
    )
    op.create_index(
        op.f("ix_audit_entries_site_id_action_at_id"), "audit_entries", ["site_id", "action", "at", "id"], unique=False
    )
    op.create_index(op.f("ix_audit_entries_site_id_at_id"), "audit_entries", ["site_id", "at", "id"], unique=False)
    op.create_index(
        op.f("ix_audit_entries_site_id_subject_type_subject_id"),
        "audit_entries",
        ["site_id", "subject_type", "subject_id"],
        unique=False,
    )
    op.create_table(
        "domains",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("host", sa.String(length=253), nullable=False),
        sa.Column("primary", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], name=op.f("fk_domains_site_id_sites"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_domains")),
        sa.UniqueConstraint("host", name=op.f("uq_domains_host")),
    )
    op.create_index(op.f("ix_domains_site_id"), "domains", ["site_id"], unique=False)
    op.create_index(
        "uq_domains_primary",
        "domains",
        ["site_id"],
        unique=True,
        sqlite_where=sa.text('"primary" = 1'),
        postgresql_where=sa.text('"primary"'),
    )
    op.create_table(
        "personal_tokens",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=60), nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("beginning", sa.String(length=20), nullable=False),
        sa.Column("session_version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_personal_tokens_site_id_sites"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_personal_tokens_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_personal_tokens")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_personal_tokens_token_hash")),
    )
    op.create_index(op.f("ix_personal_tokens_expires_at"), "personal_tokens", ["expires_at"], unique=False)
    op.create_index(op.f("ix_personal_tokens_site_id_user_id"), "personal_tokens", ["site_id", "user_id"], unique=False)
    op.create_index(op.f("ix_personal_tokens_user_id"), "personal_tokens", ["user_id"], unique=False)
    op.create_table(
        "role_grants",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(length=20), nullable=False),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_role_grants_site_id_sites"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_role_grants_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_role_grants")),
        sa.UniqueConstraint("user_id", "site_id", "role", name=op.f("uq_role_grants_user_id_site_id_role")),
    )
    op.create_index(op.f("ix_role_grants_site_id"), "role_grants", ["site_id"], unique=False)
    op.create_table(
        "settings",
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("value", JSON, nullable=False),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], name=op.f("fk_settings_site_id_sites"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("site_id", "key", name=op.f("pk_settings")),
    )
    op.create_table(
        "sign_in_sessions",
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("host", sa.String(length=253), nullable=False),
        sa.Column("session_version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_sign_in_sessions_site_id_sites"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_sign_in_sessions_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("token_hash", name=op.f("pk_sign_in_sessions")),
    )
    op.create_index(op.f("ix_sign_in_sessions_last_seen_at"), "sign_in_sessions", ["last_seen_at"], unique=False)
    op.create_index(op.f("ix_sign_in_sessions_site_id"), "sign_in_sessions", ["site_id"], unique=False)
    op.create_index(op.f("ix_sign_in_sessions_user_id"), "sign_in_sessions", ["user_id"], unique=False)
    op.create_table(
        "stored_events",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("payload", JSON, nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("next_try_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_stored_events_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_stored_events")),
    )
    op.create_index(op.f("ix_stored_events_site_id"), "stored_events", ["site_id"], unique=False)


def downgrade() -> None:
    op.drop_table("stored_events")
    op.drop_table("sign_in_sessions")
    op.drop_table("settings")
    op.drop_table("role_grants")
    op.drop_table("personal_tokens")
    op.drop_table("domains")
    op.drop_table("audit_entries")
    op.drop_table("api_sessions")
    op.drop_table("users")
    op.drop_table("sites")
    op.drop_table("sign_in_failures")
