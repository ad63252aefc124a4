"""Whether search was away while a sitemap was built, which stood in a sentence among its warnings

Revision: 9e4d1c60a7f3
Follows: 1d7c5be08a43
Date: 2026-11-22 20:45:00+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "9e4d1c60a7f3"
down_revision = "1d7c5be08a43"
branch_labels = None
depends_on = None

SENTENCE = "Search did not answer: landing pages are missing and empty categories are listed until the next build."


def upgrade() -> None:
    with op.batch_alter_table("sitemap_builds", schema=None) as batch_op:
        batch_op.add_column(sa.Column("search_was_away", sa.Boolean(), nullable=False, server_default=sa.false()))
    with op.batch_alter_table("sitemap_builds", schema=None) as batch_op:
        batch_op.alter_column("search_was_away", server_default=None)
    builds = sa.table("sitemap_builds", sa.column("search_was_away", sa.Boolean), sa.column("warnings", sa.Text))
    without_search = builds.update().where(builds.c.warnings.startswith(SENTENCE, autoescape=True))
    rest = sa.func.substr(builds.c.warnings, len(SENTENCE) + 2)
    op.execute(without_search.values(search_was_away=True, warnings=rest))


def downgrade() -> None:
    with op.batch_alter_table("sitemap_builds", schema=None) as batch_op:
        batch_op.drop_column("search_was_away")
