"""Passkeys by which users sign in to the admin

Revision: c93e62f409d8
Follows: b27d51e3f8c7
Date: 2026-11-29 01:00:00.000000+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "c93e62f409d8"
down_revision = "b27d51e3f8c7"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "sign_in_passkeys",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("session_version", sa.Integer(), nullable=False),
        sa.Column("host", sa.String(length=253), nullable=False),
        sa.Column("credential_id", sa.String(length=1364), nullable=False),
        sa.Column("public_key", sa.LargeBinary(), nullable=False),
        sa.Column("sign_count", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(length=60), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_sign_in_passkeys_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sign_in_passkeys")),
        sa.UniqueConstraint("host", "credential_id", name=op.f("uq_sign_in_passkeys_host_credential_id")),
    )
    op.create_index(op.f("ix_sign_in_passkeys_user_id"), "sign_in_passkeys", ["user_id"])
    op.create_index(op.f("ix_sign_in_passkeys_last_used_at"), "sign_in_passkeys", ["last_used_at"])


def downgrade() -> None:
    op.drop_table("sign_in_passkeys")
