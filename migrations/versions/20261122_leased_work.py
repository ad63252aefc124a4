"""Leased work has the same columns in every table

Revision: 5c1f0f3a9b27
Follows: a6dfe044f05c
Date: 2026-11-22 06:40:00+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "5c1f0f3a9b27"
down_revision = "a6dfe044f05c"
branch_labels = None
depends_on = None

RENAMED = (
    ("rebuild_runs", "document_count", "done"),
    ("rebuild_runs", "total_count", "total"),
    ("suggestion_runs", "requested_at", "created_at"),
    ("suggestion_runs", "tries", "attempts"),
)
COUNTERS = (
    ("rebuild_runs", "attempts"),
    ("search_replays", "fence"),
    ("search_replays", "attempts"),
    ("taxonomy_tasks", "fence"),
    ("taxonomy_tasks", "attempts"),
    ("suggestion_runs", "done"),
)


def upgrade() -> None:
    for table, before, after in RENAMED:
        op.execute(f"ALTER TABLE {table} RENAME COLUMN {before} TO {after}")
    for table, counter in COUNTERS:
        op.add_column(table, sa.Column(counter, sa.Integer(), nullable=False, server_default="0"))
    held_back = sa.Column("held_back", sa.Boolean(), nullable=False, server_default=sa.false())
    op.add_column("rebuild_runs", held_back)
    op.execute("UPDATE rebuild_runs SET held_back = true WHERE error LIKE 'The new index was held back%'")
    op.add_column("suggestion_runs", sa.Column("total", sa.Integer(), nullable=True))
    op.add_column("suggestion_runs", sa.Column("started_at", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    for table, counter in (
        *COUNTERS,
        ("suggestion_runs", "total"),
        ("suggestion_runs", "started_at"),
        ("rebuild_runs", "held_back"),
    ):
        op.execute(f"ALTER TABLE {table} DROP COLUMN {counter}")
    for table, before, after in RENAMED:
        op.execute(f"ALTER TABLE {table} RENAME COLUMN {after} TO {before}")
