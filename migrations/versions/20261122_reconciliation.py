"""Reconciliation with the payment processor: checks, nightly comparisons, and what differed

Revision: 8d27c6f0b1a4
Follows: 21098470e6d8
Date: 2026-11-22 16:58:12.402911+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "8d27c6f0b1a4"
down_revision = "21098470e6d8"
branch_labels = None
depends_on = None

UNFINISHED = sa.text("state in ('waiting', 'running')")
UNSETTLED = sa.text("settled_at is null")


def upgrade() -> None:
    op.create_table(
        "pos_payment_checks",
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("failed", sa.Integer(), nullable=False),
        *_leased("pos_payment_checks"),
        sa.PrimaryKeyConstraint("site_id", name=op.f("pk_pos_payment_checks")),
    )
    op.create_table(
        "pos_reconciliations",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("differences", sa.Integer(), nullable=False),
        sa.Column("foreign", sa.Integer(), nullable=False),
        *_leased("pos_reconciliations"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pos_reconciliations")),
    )
    with op.batch_alter_table("pos_reconciliations", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_pos_reconciliations_site_id_created_at"), ["site_id", "created_at"])
        batch_op.create_index(
            "uq_pos_reconciliations_unfinished",
            ["site_id"],
            unique=True,
            sqlite_where=UNFINISHED,
            postgresql_where=UNFINISHED,
        )
    op.create_table(
        "pos_ledger_differences",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.String(length=255), nullable=False),
        sa.Column("intent_id", sa.String(length=255), nullable=False),
        sa.Column("transaction_id", sa.String(length=36), nullable=True),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("ours", sa.String(length=100), nullable=False),
        sa.Column("theirs", sa.String(length=100), nullable=False),
        sa.Column("corrected", sa.Boolean(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("found_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("settled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("settled_by", sa.String(length=100), nullable=True),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_pos_ledger_differences_site_id_sites"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["transaction_id"],
            ["pos_transactions.id"],
            name=op.f("fk_pos_ledger_differences_transaction_id_pos_transactions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pos_ledger_differences")),
    )
    with op.batch_alter_table("pos_ledger_differences", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_pos_ledger_differences_transaction_id"), ["transaction_id"])
        batch_op.create_index(
            "uq_pos_ledger_differences_unsettled",
            ["site_id", "intent_id", "kind"],
            unique=True,
            sqlite_where=UNSETTLED,
            postgresql_where=UNSETTLED,
        )


def _leased(table: str) -> list[sa.schema.SchemaItem]:
    """The columns of leased work, with its constraints."""
    return [
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("requested_by", sa.String(length=100), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.CheckConstraint("state in ('waiting', 'running', 'done', 'failed')", name=op.f(f"ck_{table}_state_known")),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], name=op.f(f"fk_{table}_site_id_sites"), ondelete="CASCADE"),
    ]


def downgrade() -> None:
    op.drop_table("pos_ledger_differences")
    op.drop_table("pos_reconciliations")
    op.drop_table("pos_payment_checks")
