"""Products that a category buries

Revision: b61d0c84e7f3
Follows: f17c05a9e3d2
Date: 2026-11-29 04:20:00.000000+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "b61d0c84e7f3"
down_revision = "f17c05a9e3d2"
branch_labels = None
depends_on = None

TABLE = "merchandising_burials"
REFERENCES = {"node_id": "merchandising_nodes", "product_id": "products", "site_id": "sites"}


def upgrade() -> None:
    op.create_table(
        TABLE,
        *(sa.Column(column, sa.Integer(), nullable=False) for column in REFERENCES),
        *(
            sa.ForeignKeyConstraint(
                [column], [f"{table}.id"], name=op.f(f"fk_{TABLE}_{column}_{table}"), ondelete="CASCADE"
            )
            for column, table in REFERENCES.items()
        ),
        sa.PrimaryKeyConstraint("node_id", "product_id", name=op.f(f"pk_{TABLE}")),
    )
    op.create_index(op.f(f"ix_{TABLE}_product_id"), TABLE, ["product_id"])
    op.create_index(op.f(f"ix_{TABLE}_site_id"), TABLE, ["site_id"])


def downgrade() -> None:
    op.drop_table(TABLE)
