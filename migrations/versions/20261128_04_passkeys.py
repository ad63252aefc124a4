"""Passkeys of users, and the sessions that are bound to them

Revision: 5c27e1f09ab4
Follows: a09468e88b4f
Date: 2026-11-28 07:20:00.000000+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "5c27e1f09ab4"
down_revision = "a09468e88b4f"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "user_passkeys",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("credential_id", sa.String(length=1364), nullable=False),
        sa.Column("public_key", sa.LargeBinary(), nullable=False),
        sa.Column("sign_count", sa.BigInteger(), nullable=False),
        sa.Column("device_id", sa.String(length=100), nullable=True),
        sa.Column("name", sa.String(length=100), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_user_passkeys_site_id_sites"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_user_passkeys_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_user_passkeys")),
        sa.UniqueConstraint("site_id", "credential_id", name=op.f("uq_user_passkeys_site_id_credential_id")),
    )
    op.create_index(op.f("ix_user_passkeys_user_id"), "user_passkeys", ["user_id"], unique=False)
    op.create_index(op.f("ix_user_passkeys_last_used_at"), "user_passkeys", ["last_used_at"], unique=False)
    op.create_index(op.f("ix_user_passkeys_site_id_user_id"), "user_passkeys", ["site_id", "user_id"], unique=False)
    with op.batch_alter_table("api_sessions") as batch_op:
        batch_op.add_column(sa.Column("passkey_id", sa.String(length=36), nullable=True))
        batch_op.create_index(batch_op.f("ix_api_sessions_passkey_id"), ["passkey_id"], unique=False)


def downgrade() -> None:
    with op.batch_alter_table("api_sessions") as batch_op:
        batch_op.drop_index(batch_op.f("ix_api_sessions_passkey_id"))
        batch_op.drop_column("passkey_id")
    op.drop_table("user_passkeys")
