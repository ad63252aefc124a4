"""Events of the payment processor that wait are found in an index

Revision: 6c0f4b92d7e8
Follows: 3e91c5d07fb2
Date: 2026-11-22 18:50:40.214377+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "6c0f4b92d7e8"
down_revision = "3e91c5d07fb2"
branch_labels = None
depends_on = None

NAME, TABLE = "ix_processor_events_waiting", "processor_events"
WAITING = sa.text("processed_at is null")


def upgrade() -> None:
    op.create_index(NAME, TABLE, ["site_id", "received_at"], sqlite_where=WAITING, postgresql_where=WAITING)


def downgrade() -> None:
    op.drop_index(NAME, table_name=TABLE)
