"""Baskets and orders

Revision: cda8e6321f45
Follows: a5709e8c47fb
Date: 2026-11-24 19:05:00.000000+00:00
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "cda8e6321f45"
down_revision = "a5709e8c47fb"
branch_labels = None
depends_on = None

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "order_numbers",
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("next", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_order_numbers_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("site_id", name=op.f("pk_order_numbers")),
    )
    op.create_table(
        "orders",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=True),
        sa.Column("channel", sa.String(length=8), nullable=False),
        sa.Column("status", sa.String(length=12), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=True),
        sa.Column("contact_name", sa.String(length=100), nullable=False),
        sa.Column("contact_email", sa.String(length=254), nullable=False),
        sa.Column("contact_phone", sa.String(length=40), nullable=False),
        sa.Column("note", sa.String(length=500), nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.Column("discount", sa.Integer(), server_default="0", nullable=False),
        sa.Column("tax", sa.Integer(), server_default="0", nullable=False),
        sa.Column("owner_id", sa.Integer(), nullable=True),
        sa.Column("pos_location_id", sa.String(length=255), nullable=True),
        sa.Column("payment_lock", sa.String(length=36), nullable=True),
        sa.Column("paid_amount", sa.Integer(), server_default="0", nullable=False),
        sa.Column("paid_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("fulfilled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("submitted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ready_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("settled_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("channel in ('WEB', 'POS')", name=op.f("ck_orders_channel_known")),
        sa.CheckConstraint(
            "status in ('OPEN', 'SUBMITTED', 'COLLECTED', 'CANCELLED')", name=op.f("ck_orders_status_known")
        ),
        sa.CheckConstraint("discount >= 0 and tax >= 0 and paid_amount >= 0", name=op.f("ck_orders_amounts_known")),
        sa.ForeignKeyConstraint(["owner_id"], ["users.id"], name=op.f("fk_orders_owner_id_users"), ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], name=op.f("fk_orders_site_id_sites"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_orders")),
        sa.UniqueConstraint("site_id", "number", name=op.f("uq_orders_site_id_number")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_orders_token_hash")),
    )
    op.create_index(op.f("ix_orders_owner_id"), "orders", ["owner_id"], unique=False)
    op.create_index(
        op.f("ix_orders_site_id_status_submitted_at"), "orders", ["site_id", "status", "submitted_at"], unique=False
    )
    op.create_index(
        op.f("ix_orders_site_id_status_updated_at"), "orders", ["site_id", "status", "updated_at"], unique=False
    )
    op.create_table(
        "order_mails",
        sa.Column("order_id", sa.String(length=36), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("email", sa.String(length=254), nullable=True),
        sa.Column("next_try_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
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
        sa.CheckConstraint("kind in ('received', 'ready')", name=op.f("ck_order_mails_kind_known")),
        sa.CheckConstraint(
            "state in ('waiting', 'running', 'done', 'failed')", name=op.f("ck_order_mails_state_known")
        ),
        sa.ForeignKeyConstraint(
            ["order_id"], ["orders.id"], name=op.f("fk_order_mails_order_id_orders"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_order_mails_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_order_mails")),
        sa.UniqueConstraint("order_id", "kind", name=op.f("uq_order_mails_order_id_kind")),
    )
    op.create_index(op.f("ix_order_mails_state_next_try_at"), "order_mails", ["state", "next_try_at"], unique=False)
    op.create_table(
        "product_sales",
        sa.Column("product_id", sa.Integer(), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("units", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["product_id"], ["products.id"], name=op.f("fk_product_sales_product_id_products"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_product_sales_site_id_sites"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("product_id", name=op.f("pk_product_sales")),
    )
    op.create_index(op.f("ix_product_sales_site_id"), "product_sales", ["site_id"], unique=False)
    op.create_table(
        "order_lines",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("order_id", sa.String(length=36), nullable=False),
        sa.Column("site_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("product_id", sa.Integer(), nullable=True),
        sa.Column("variant_id", sa.Integer(), nullable=True),
        sa.Column("sku", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=300), nullable=False),
        sa.Column("options", JSON, nullable=False),
        sa.Column("quantity", sa.Integer(), nullable=False),
        sa.Column("stock_taken", sa.Integer(), nullable=False),
        sa.Column("unit_price", sa.Integer(), nullable=False),
        sa.CheckConstraint("quantity > 0", name=op.f("ck_order_lines_quantity_positive")),
        sa.ForeignKeyConstraint(
            ["order_id"], ["orders.id"], name=op.f("fk_order_lines_order_id_orders"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["product_id"], ["products.id"], name=op.f("fk_order_lines_product_id_products"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["site_id"], ["sites.id"], name=op.f("fk_order_lines_site_id_sites"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["variant_id"], ["variants.id"], name=op.f("fk_order_lines_variant_id_variants"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_order_lines")),
    )
    op.create_index(op.f("ix_order_lines_order_id_position"), "order_lines", ["order_id", "position"], unique=False)
    op.create_index(op.f("ix_order_lines_product_id"), "order_lines", ["product_id"], unique=False)
    op.create_index(op.f("ix_order_lines_variant_id"), "order_lines", ["variant_id"], unique=False)


def downgrade() -> None:
    op.drop_table("order_lines")
    op.drop_table("product_sales")
    op.drop_table("order_mails")
    op.drop_table("orders")
    op.drop_table("order_numbers")
