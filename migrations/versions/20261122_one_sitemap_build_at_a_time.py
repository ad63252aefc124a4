"""One unfinished build of a site's sitemap

Revision: c40d9e6fb815
Follows: 2f95c81ad7b6
Date: 2026-11-22 15:15:00+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "c40d9e6fb815"
down_revision = "2f95c81ad7b6"
branch_labels = None
depends_on = None

UNFINISHED = sa.text("state in ('waiting', 'running')")


def upgrade() -> None:
    op.execute(
        "UPDATE sitemap_builds SET state = 'failed', error = 'It was ended by an upgrade.' WHERE " + UNFINISHED.text
    )
    with op.batch_alter_table("sitemap_builds", schema=None) as batch_op:
        batch_op.create_index(
            "uq_sitemap_builds_unfinished",
            ["site_id"],
            unique=True,
            sqlite_where=UNFINISHED,
            postgresql_where=UNFINISHED,
        )


def downgrade() -> None:
    with op.batch_alter_table("sitemap_builds", schema=None) as batch_op:
        batch_op.drop_index("uq_sitemap_builds_unfinished")
