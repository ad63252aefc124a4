"""Payments are found by intent, and counted by location, in an index alone

Revision: 3e91c5d07fb2
Follows: bf4ea8e37763
Date: 2026-11-22 18:02:31.118204+00:00
"""

from __future__ import annotations

from alembic import op

revision = "3e91c5d07fb2"
down_revision = "bf4ea8e37763"
branch_labels = None
depends_on = None

TABLE = "pos_transactions"
COUNTED = ["site_id", "location_id"]
BY_LOCATION = ["location_id", "created_at", "id"]
BY_SITE_AND_LOCATION = ["site_id", "location_id", "created_at", "id"]
BY_INTENT = ["site_id", "processor_intent_id", "location_id"]


def upgrade() -> None:
    op.create_index(op.f("ix_pos_transactions_site_id_location_id"), TABLE, COUNTED)
    op.create_index(op.f("ix_pos_transactions_site_id_location_id_created_at_id"), TABLE, BY_SITE_AND_LOCATION)
    op.create_index(op.f("ix_pos_transactions_site_id_processor_intent_id_location_id"), TABLE, BY_INTENT)
    op.drop_index(op.f("ix_pos_transactions_location_id_created_at_id"), table_name=TABLE)


def downgrade() -> None:
    op.create_index(op.f("ix_pos_transactions_location_id_created_at_id"), TABLE, BY_LOCATION)
    op.drop_index(op.f("ix_pos_transactions_site_id_processor_intent_id_location_id"), table_name=TABLE)
    op.drop_index(op.f("ix_pos_transactions_site_id_location_id_created_at_id"), table_name=TABLE)
    op.drop_index(op.f("ix_pos_transactions_site_id_location_id"), table_name=TABLE)
