"""Indexes for the filters of the activity log

Revision: 2e8f5a7c91b4
Follows: 6d0b93e4f72a
Date: 2026-11-22 21:30:00+00:00
"""

from __future__ import annotations

from alembic import op

revision = "2e8f5a7c91b4"
down_revision = "6d0b93e4f72a"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("audit_entries") as batch:
        batch.drop_index(batch.f("ix_audit_entries_site_id_at"))
        batch.create_index(batch.f("ix_audit_entries_site_id_at_id"), ["site_id", "at", "id"])
        batch.create_index(batch.f("ix_audit_entries_site_id_action_at_id"), ["site_id", "action", "at", "id"])


def downgrade() -> None:
    with op.batch_alter_table("audit_entries") as batch:
        batch.drop_index(batch.f("ix_audit_entries_site_id_action_at_id"))
        batch.drop_index(batch.f("ix_audit_entries_site_id_at_id"))
        batch.create_index(batch.f("ix_audit_entries_site_id_at"), ["site_id", "at"])
