"""One unfinished check of a site

Revision: 7b1de0f3c864
Follows: e4a7c90b12d5
Date: 2026-11-22 15:00:00+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "7b1de0f3c864"
down_revision = "e4a7c90b12d5"
branch_labels = None
depends_on = None

UNFINISHED = sa.text("state in ('waiting', 'running')")


def upgrade() -> None:
    op.execute(
        "UPDATE site_checks SET state = 'failed', error = 'It was ended by an upgrade.' WHERE " + UNFINISHED.text
    )
    with op.batch_alter_table("site_checks", schema=None) as batch_op:
        batch_op.create_index(
            "uq_site_checks_unfinished",
            ["site_id"],
            unique=True,
            sqlite_where=UNFINISHED,
            postgresql_where=UNFINISHED,
        )


def downgrade() -> None:
    with op.batch_alter_table("site_checks", schema=None) as batch_op:
        batch_op.drop_index("uq_site_checks_unfinished")
