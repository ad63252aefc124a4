"""Delivery: the methods of each shop, and how an order is delivered

Revision: d4a83f60b1e9
Follows: c93e62f409d8
Date: 2026-11-29 00:40:00.000000+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "d4a83f60b1e9"
down_revision = "c93e62f409d8"
branch_labels = None
depends_on = None

TEXTS = {
    "delivery_method": 60,
    "delivery_days": 80,
    "delivery_payment": 12,
    "delivery_recipient": 100,
    "delivery_line1": 100,
    "delivery_line2": 100,
    "delivery_city": 80,
    "delivery_postcode": 12,
    "delivery_country": 2,
}
NUMBERS = ("delivery_price", "delivery_weight")


def json_value() -> sa.JSON:
    return sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "deliveries",
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("value", json_value(), nullable=False),
        sa.Column("previous", json_value(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_by", sa.String(length=100), nullable=False),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_deliveries_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("site_id", name=op.f("pk_deliveries")),
    )
    for name, length in TEXTS.items():
        op.add_column("orders", sa.Column(name, sa.String(length=length), server_default="", nullable=False))
    for name in NUMBERS:
        op.add_column("orders", sa.Column(name, sa.Integer(), server_default="0", nullable=False))
    op.add_column("orders", sa.Column("paid_by_transfer", sa.Boolean(), server_default=sa.false(), nullable=False))


def downgrade() -> None:
    with op.batch_alter_table("orders") as orders:
        for name in (*TEXTS, *NUMBERS, "paid_by_transfer"):
            orders.drop_column(name)
    op.drop_table("deliveries")
