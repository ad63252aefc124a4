"""Access tokens of users, for programs such as AI agents

Revision: 9b3e6d10c74f
Follows: b7d20c4e913a
Date: 2026-11-22 20:40:12.108326+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "9b3e6d10c74f"
down_revision = "b7d20c4e913a"
branch_labels = None
depends_on = None


def upgrade() -> None:
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
    op.create_index(op.f("ix_personal_tokens_site_id_user_id"), "personal_tokens", ["site_id", "user_id"])
    op.create_index(op.f("ix_personal_tokens_user_id"), "personal_tokens", ["user_id"])
    op.create_index(op.f("ix_personal_tokens_expires_at"), "personal_tokens", ["expires_at"])


def downgrade() -> None:
    op.drop_table("personal_tokens")
