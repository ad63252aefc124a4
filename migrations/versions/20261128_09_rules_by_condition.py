"""Search rules by condition: how a search meets the term, further terms, levels, priority and groups of products

Revision: 5c1e7d20a9b4
Follows: 9b4d6e0c27a3
Date: 2026-11-28 17:40:00.000000+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "5c1e7d20a9b4"
down_revision = "9b4d6e0c27a3"
branch_labels = None
depends_on = None

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")
LISTS = ("other_terms", "levels", "boost_groups", "bury_groups")
KEPT = {"sqlite_autoincrement": True}


def upgrade() -> None:
    """A rule of the release before is exact, and its term stays unique among those."""
    with op.batch_alter_table("search_rules", table_kwargs=KEPT) as batch_op:
        batch_op.add_column(sa.Column("match", sa.String(length=12), server_default="exact", nullable=False))
        batch_op.add_column(sa.Column("priority", sa.Integer(), server_default="100", nullable=False))
        for name in LISTS:
            batch_op.add_column(sa.Column(name, JSON, server_default="[]", nullable=False))
        batch_op.drop_constraint(batch_op.f("uq_search_rules_site_id_normalized_term"), type_="unique")
        batch_op.create_unique_constraint(
            batch_op.f("uq_search_rules_site_id_match_normalized_term"), ["site_id", "match", "normalized_term"]
        )


def downgrade() -> None:
    """What the release before would apply to exactly its term is deleted: it has no other rules."""
    op.execute("delete from search_rules where \"match\" <> 'exact'")
    with op.batch_alter_table("search_rules", table_kwargs=KEPT) as batch_op:
        batch_op.drop_constraint(batch_op.f("uq_search_rules_site_id_match_normalized_term"), type_="unique")
        batch_op.create_unique_constraint(
            batch_op.f("uq_search_rules_site_id_normalized_term"), ["site_id", "normalized_term"]
        )
        for name in reversed(LISTS):
            batch_op.drop_column(name)
        batch_op.drop_column("priority")
        batch_op.drop_column("match")
