"""Cash, split payments, tips and Z reports at the till

Revision: a09468e88b4f
Follows: 3d1f0c8b7a52
Date: 2026-11-28 04:30:00.000000+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "a09468e88b4f"
down_revision = "3d1f0c8b7a52"
branch_labels = None
depends_on = None
# The release before locks an order by its one payment; this one lets several pay it. Both at once could take too much.
NEEDS_A_STOP = True

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")
TENDERS = "tender_type in ('CARD', 'CASH')"
PARTS = "tip_in_pence >= 0 and refunded_in_cash >= 0 and refunded_in_cash <= refunded_amount"
AMOUNTS = "discount >= 0 and tax >= 0 and paid_amount >= 0"
OPEN = "status in ('AUTHORIZED', 'CREATING', 'PENDING', 'PROCESSING', 'UNKNOWN')"


def upgrade() -> None:
    op.create_table(
        "pos_cash_movements",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("location_id", sa.Integer(), nullable=False),
        sa.Column("session_id", sa.String(length=36), nullable=True),
        sa.Column("agent_id", sa.Integer(), nullable=True),
        sa.Column("type", sa.String(length=8), nullable=False),
        sa.Column("amount", sa.Integer(), nullable=False),
        sa.Column("reason", sa.String(length=200), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("type in ('PAY_IN', 'PAY_OUT', 'DROP')", name=op.f("ck_pos_cash_movements_type_known")),
        sa.CheckConstraint("amount > 0", name=op.f("ck_pos_cash_movements_amount_positive")),
        sa.ForeignKeyConstraint(
            ["agent_id"], ["pos_agents.id"], name=op.f("fk_pos_cash_movements_agent_id_pos_agents")
        ),
        sa.ForeignKeyConstraint(
            ["location_id"], ["pos_locations.id"], name=op.f("fk_pos_cash_movements_location_id_pos_locations")
        ),
        sa.ForeignKeyConstraint(
            ["session_id"],
            ["pos_sessions.id"],
            name=op.f("fk_pos_cash_movements_session_id_pos_sessions"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_pos_cash_movements_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pos_cash_movements")),
    )
    with op.batch_alter_table("pos_cash_movements") as batch_op:
        batch_op.create_index(batch_op.f("ix_pos_cash_movements_session_id"), ["session_id"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_pos_cash_movements_site_id_location_id_created_at_id"),
            ["site_id", "location_id", "created_at", "id"],
            unique=False,
        )

    with op.batch_alter_table("orders") as batch_op:
        batch_op.add_column(sa.Column("reserved_amount", sa.Integer(), server_default="0", nullable=False))
        batch_op.drop_constraint(batch_op.f("ck_orders_amounts_known"), type_="check")
        batch_op.create_check_constraint(batch_op.f("ck_orders_amounts_known"), f"{AMOUNTS} and reserved_amount >= 0")
    _follow_payments()
    with op.batch_alter_table("orders") as batch_op:
        batch_op.drop_column("payment_lock")

    with op.batch_alter_table("pos_agents", table_kwargs={"sqlite_autoincrement": True}) as batch_op:
        batch_op.add_column(sa.Column("can_take_cash", sa.Boolean(), server_default=sa.true(), nullable=False))
        batch_op.add_column(sa.Column("can_move_cash", sa.Boolean(), server_default=sa.false(), nullable=False))

    with op.batch_alter_table("pos_locations", table_kwargs={"sqlite_autoincrement": True}) as batch_op:
        batch_op.add_column(sa.Column("last_z_number", sa.Integer(), server_default="0", nullable=False))

    with op.batch_alter_table("pos_refunds") as batch_op:
        batch_op.add_column(sa.Column("session_id", sa.String(length=36), nullable=True))
        batch_op.add_column(sa.Column("tender_type", sa.String(length=4), server_default="CARD", nullable=False))
        batch_op.add_column(sa.Column("rounding", sa.Integer(), server_default="0", nullable=False))
        batch_op.create_check_constraint(batch_op.f("ck_pos_refunds_tender_known"), TENDERS)
        batch_op.create_index(batch_op.f("ix_pos_refunds_session_id"), ["session_id"], unique=False)
        batch_op.create_foreign_key(
            batch_op.f("fk_pos_refunds_session_id_pos_sessions"),
            "pos_sessions",
            ["session_id"],
            ["id"],
            ondelete="SET NULL",
        )

    _keep_reports()
    with op.batch_alter_table("pos_sessions") as batch_op:
        batch_op.add_column(sa.Column("opened_location_id", sa.Integer(), nullable=True))
        batch_op.add_column(sa.Column("z_number", sa.Integer(), nullable=True))
        batch_op.add_column(sa.Column("z_report", JSON, nullable=True))
        batch_op.add_column(sa.Column("journal_head", sa.String(length=64), nullable=True))
        batch_op.create_unique_constraint(
            batch_op.f("uq_pos_sessions_opened_location_id_z_number"), ["opened_location_id", "z_number"]
        )
        batch_op.create_foreign_key(
            batch_op.f("fk_pos_sessions_opened_location_id_pos_locations"),
            "pos_locations",
            ["opened_location_id"],
            ["id"],
            ondelete="SET NULL",
        )

    with op.batch_alter_table("pos_transactions") as batch_op:
        batch_op.add_column(sa.Column("tender_type", sa.String(length=4), server_default="CARD", nullable=False))
        batch_op.add_column(sa.Column("tip_in_pence", sa.Integer(), server_default="0", nullable=False))
        batch_op.add_column(sa.Column("change_in_pence", sa.Integer(), nullable=True))
        batch_op.add_column(sa.Column("rounding_in_pence", sa.Integer(), nullable=True))
        batch_op.add_column(sa.Column("refunded_in_cash", sa.Integer(), server_default="0", nullable=False))
        batch_op.add_column(sa.Column("is_surplus", sa.Boolean(), server_default=sa.false(), nullable=False))
        batch_op.add_column(sa.Column("client_sale_id", sa.String(length=36), nullable=True))
        batch_op.add_column(sa.Column("notes", JSON, server_default="[]", nullable=False))
        batch_op.drop_index("uq_pos_transactions_open_of_order")
        batch_op.create_unique_constraint(
            batch_op.f("uq_pos_transactions_site_id_client_sale_id"), ["site_id", "client_sale_id"]
        )
        batch_op.create_check_constraint(batch_op.f("ck_pos_transactions_tender_known"), TENDERS)
        batch_op.create_check_constraint(batch_op.f("ck_pos_transactions_parts_known"), PARTS)


def downgrade() -> None:
    with op.batch_alter_table("pos_transactions") as batch_op:
        batch_op.drop_constraint(batch_op.f("uq_pos_transactions_site_id_client_sale_id"), type_="unique")
        batch_op.create_index(
            "uq_pos_transactions_open_of_order",
            ["order_id"],
            unique=True,
            sqlite_where=sa.text(OPEN),
            postgresql_where=sa.text(OPEN),
        )
        batch_op.drop_constraint(batch_op.f("ck_pos_transactions_parts_known"), type_="check")
        batch_op.drop_constraint(batch_op.f("ck_pos_transactions_tender_known"), type_="check")
        batch_op.drop_column("notes")
        batch_op.drop_column("client_sale_id")
        batch_op.drop_column("is_surplus")
        batch_op.drop_column("refunded_in_cash")
        batch_op.drop_column("rounding_in_pence")
        batch_op.drop_column("change_in_pence")
        batch_op.drop_column("tip_in_pence")
        batch_op.drop_column("tender_type")

    with op.batch_alter_table("pos_sessions") as batch_op:
        batch_op.drop_constraint(batch_op.f("fk_pos_sessions_opened_location_id_pos_locations"), type_="foreignkey")
        batch_op.drop_constraint(batch_op.f("uq_pos_sessions_opened_location_id_z_number"), type_="unique")
        batch_op.drop_column("journal_head")
        batch_op.drop_column("z_report")
        batch_op.drop_column("z_number")
        batch_op.drop_column("opened_location_id")

    with op.batch_alter_table("pos_refunds") as batch_op:
        batch_op.drop_constraint(batch_op.f("fk_pos_refunds_session_id_pos_sessions"), type_="foreignkey")
        batch_op.drop_index(batch_op.f("ix_pos_refunds_session_id"))
        batch_op.drop_constraint(batch_op.f("ck_pos_refunds_tender_known"), type_="check")
        batch_op.drop_column("rounding")
        batch_op.drop_column("tender_type")
        batch_op.drop_column("session_id")

    with op.batch_alter_table("pos_locations", table_kwargs={"sqlite_autoincrement": True}) as batch_op:
        batch_op.drop_column("last_z_number")

    with op.batch_alter_table("pos_agents", table_kwargs={"sqlite_autoincrement": True}) as batch_op:
        batch_op.drop_column("can_move_cash")
        batch_op.drop_column("can_take_cash")

    with op.batch_alter_table("orders") as batch_op:
        batch_op.drop_constraint(batch_op.f("ck_orders_amounts_known"), type_="check")
        batch_op.create_check_constraint(batch_op.f("ck_orders_amounts_known"), AMOUNTS)
        batch_op.add_column(sa.Column("payment_lock", sa.String(length=36), nullable=True))
        batch_op.drop_column("reserved_amount")

    with op.batch_alter_table("pos_cash_movements") as batch_op:
        batch_op.drop_index(batch_op.f("ix_pos_cash_movements_site_id_location_id_created_at_id"))
        batch_op.drop_index(batch_op.f("ix_pos_cash_movements_session_id"))

    op.drop_table("pos_cash_movements")


def _follow_payments() -> None:
    """Orders know what payments under way may bring, and baskets what was given back."""
    of_order = "from pos_transactions where pos_transactions.order_id = orders.id"
    op.execute(f"update orders set reserved_amount = coalesce((select sum(amount_in_pence) {of_order} and {OPEN}), 0)")
    refunded = "pos_transactions where pos_transactions.id = orders.payment_lock and refunded_amount > 0"
    op.execute(
        f"update orders set paid_at = null, paid_amount = (select captured_amount - refunded_amount from {refunded}) "
        f"where orders.status = 'OPEN' and exists (select 1 from {refunded} and captured_amount >= refunded_amount)"
    )


def _keep_reports() -> None:
    """Refunds that a report counts so far, which is that of the payment's session, belong to that session."""
    of_payment = (
        "select pos_sessions.id from pos_transactions join pos_sessions on pos_sessions.id = pos_transactions.session_id "
        "where pos_transactions.id = pos_refunds.transaction_id "
        "and (pos_sessions.closed_at is null or pos_refunds.created_at <= pos_sessions.closed_at)"
    )
    op.execute(f"update pos_refunds set session_id = ({of_payment})")
