"""Orders, their lines and the mails about them. A basket is an open order."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, Integer, String, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.domain.delivery.addresses import (
    LONGEST_CITY,
    LONGEST_LINE,
    LONGEST_POSTCODE,
    LONGEST_RECIPIENT,
    Address,
)
from app.domain.delivery.declaration import LONGEST_DAYS, LONGEST_INSTRUCTIONS, LONGEST_METHOD, DeliveryPayment
from app.domain.orders.handover import Handover, handover_of
from app.domain.shared.records import JsonValue, UtcDateTime
from app.domain.work.mailing import MailToSend
from app.domain.work.models import state_known
from app.extensions import Base

# An INTEGER of SQLite is as large.
LARGE = BigInteger().with_variant(Integer(), "sqlite")
OPEN, SUBMITTED, COLLECTED, CANCELLED = "OPEN", "SUBMITTED", "COLLECTED", "CANCELLED"


def amount_due(status: str, is_paid: bool, total: int, paid: int) -> int:
    """Return what is still to be paid for an order, in minor units: nothing of one that was collected or cancelled."""
    return 0 if is_paid or status in (COLLECTED, CANCELLED) else max(0, total - paid)


class Order(Base):
    """An order, or a basket while it is OPEN. `token_hash` is the SHA-256 of the random token in the shopper's cookie;
    once submitted, the order has another token, and its lines keep names and prices as they were bought. `number` is
    what people call it by, from 1 on for each site, given at the latest when it is submitted. Money is in minor units
    of `currency`.

    States: OPEN -> SUBMITTED -> COLLECTED; SUBMITTED -> CANCELLED, which gives the stock back; COLLECTED -> SUBMITTED
    for a few days, to undo a mistake. `ready_at` is when staff marked a submitted order as ready to collect, or as
    sent: it stays SUBMITTED, as programs that read orders know it. COLLECTED is said of an order that arrived, too.

    `delivery_method` is the name of the method by which it is delivered, as it was placed, empty for an order that is
    collected; `delivery_price` is part of the total, `delivery_weight` is in grams, the columns from
    `delivery_recipient` on are the address. `payment_instructions` are how it was to be paid in advance when it was
    placed, for when the shop says so no more. `paid_by_transfer`: staff saw its payment in the bank account, where
    `transferred_amount` came, which the release before leaves 0.

    `owner_id` is the user who filled it at a till or through the API, `pos_location_id` the till's location.
    `reserved_amount` is what payments that are under way may still bring, `paid_amount` what payments brought, while it
    is a basket less what was given back. `paid_at` is when it was paid in full; a basket of which money was given back
    is not. `fulfilled_at` is when it was fulfilled, once.
    """

    __tablename__ = "orders"
    __table_args__ = (
        UniqueConstraint("site_id", "number"),
        Index(None, "site_id", "status", "submitted_at"),
        Index(None, "site_id", "status", "updated_at"),
        Index(None, "site_id", "status", "paid_amount"),
        CheckConstraint("status in ('OPEN', 'SUBMITTED', 'COLLECTED', 'CANCELLED')", name="status_known"),
        Index(None, "owner_id"),
        CheckConstraint("channel in ('WEB', 'POS')", name="channel_known"),
        CheckConstraint(
            "discount >= 0 and tax >= 0 and paid_amount >= 0 and reserved_amount >= 0", name="amounts_known"
        ),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"))
    number: Mapped[int | None] = mapped_column(Integer)
    channel: Mapped[str] = mapped_column(String(8), default="WEB")
    status: Mapped[str] = mapped_column(String(12), default="OPEN")
    currency: Mapped[str] = mapped_column(String(3))
    token_hash: Mapped[str | None] = mapped_column(String(64), unique=True)
    contact_name: Mapped[str] = mapped_column(String(100), default="")
    contact_email: Mapped[str] = mapped_column(String(254), default="")
    contact_phone: Mapped[str] = mapped_column(String(40), default="")
    note: Mapped[str] = mapped_column(String(500), default="")
    total: Mapped[int] = mapped_column(BigInteger, default=0)
    discount: Mapped[int] = mapped_column(default=0, server_default="0")
    tax: Mapped[int] = mapped_column(default=0, server_default="0")
    owner_id: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    pos_location_id: Mapped[str | None] = mapped_column(String(255))
    reserved_amount: Mapped[int] = mapped_column(LARGE, default=0, server_default="0")
    paid_amount: Mapped[int] = mapped_column(LARGE, default=0, server_default="0")
    paid_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    fulfilled_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    revision: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)
    submitted_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    ready_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    settled_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    delivery_method: Mapped[str] = mapped_column(String(LONGEST_METHOD), default="", server_default="")
    delivery_days: Mapped[str] = mapped_column(String(LONGEST_DAYS), default="", server_default="")
    delivery_payment: Mapped[str] = mapped_column(String(12), default="", server_default="")
    delivery_price: Mapped[int] = mapped_column(default=0, server_default="0")
    delivery_weight: Mapped[int] = mapped_column(default=0, server_default="0")
    payment_instructions: Mapped[str] = mapped_column(String(LONGEST_INSTRUCTIONS), default="", server_default="")
    delivery_recipient: Mapped[str] = mapped_column(String(LONGEST_RECIPIENT), default="", server_default="")
    delivery_line1: Mapped[str] = mapped_column(String(LONGEST_LINE), default="", server_default="")
    delivery_line2: Mapped[str] = mapped_column(String(LONGEST_LINE), default="", server_default="")
    delivery_city: Mapped[str] = mapped_column(String(LONGEST_CITY), default="", server_default="")
    delivery_postcode: Mapped[str] = mapped_column(String(LONGEST_POSTCODE), default="", server_default="")
    delivery_country: Mapped[str] = mapped_column(String(2), default="", server_default="")
    paid_by_transfer: Mapped[bool] = mapped_column(default=False, server_default=false())
    transferred_amount: Mapped[int] = mapped_column(BigInteger, default=0, server_default="0")

    lines: Mapped[list[OrderLine]] = relationship(
        order_by="OrderLine.position", cascade="all, delete-orphan", passive_deletes=True
    )

    @property
    def is_ready(self) -> bool:
        """Whether the order is ready and waits to be collected, or is on its way."""
        return self.status == SUBMITTED and self.ready_at is not None

    @property
    def is_delivered(self) -> bool:
        """Whether the order is brought to its shopper, not collected."""
        return bool(self.delivery_method)

    @property
    def handover(self) -> Handover:
        """The words for what becomes of it."""
        return handover_of(self.is_delivered)

    @property
    def is_paid_in_advance(self) -> bool:
        """Whether the order is delivered and paid by bank transfer before."""
        return self.delivery_payment == DeliveryPayment.IN_ADVANCE

    @property
    def awaits_transfer(self) -> bool:
        """Whether the order is to be paid before it is sent, and is not paid yet."""
        return self.is_paid_in_advance and self.status == SUBMITTED and self.paid_at is None and self.total > 0

    @property
    def transferred(self) -> int:
        """What was paid of it by bank transfer, in minor units."""
        return (self.transferred_amount or self.total) if self.paid_by_transfer else 0

    @property
    def address(self) -> Address:
        return Address(
            self.delivery_recipient,
            self.delivery_line1,
            self.delivery_line2,
            self.delivery_city,
            self.delivery_postcode,
            self.delivery_country,
        )

    @property
    def is_locked(self) -> bool:
        """Whether the contents stay as they are, since a payment is under way or brought money."""
        return bool(self.reserved_amount or self.paid_amount or self.paid_at)  # Of a new order they are None.

    @property
    def amount_due(self) -> int:
        """What is still to be paid, in minor units; payments under way count as not paid."""
        return amount_due(self.status, self.paid_at is not None, self.total, self.paid_amount)


class OrderLine(Base):
    """A quantity of a product or variant in an order. Its name and price stay when the product is deleted. In a basket,
    `unit_price` is the price when the line was last changed. `stock_taken` is how many were taken from stock, and so
    how many a cancellation gives back."""

    __tablename__ = "order_lines"
    __table_args__ = (Index(None, "order_id", "position"), CheckConstraint("quantity > 0", name="quantity_positive"))

    id: Mapped[int] = mapped_column(primary_key=True)
    order_id: Mapped[str] = mapped_column(ForeignKey("orders.id", ondelete="CASCADE"))
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"))
    position: Mapped[int] = mapped_column(Integer)
    product_id: Mapped[int | None] = mapped_column(ForeignKey("products.id", ondelete="SET NULL"), index=True)
    variant_id: Mapped[int | None] = mapped_column(ForeignKey("variants.id", ondelete="SET NULL"), index=True)
    sku: Mapped[str] = mapped_column(String(64))
    name: Mapped[str] = mapped_column(String(300))
    options: Mapped[dict[str, str]] = mapped_column(JsonValue, default=dict)
    quantity: Mapped[int] = mapped_column(Integer)
    stock_taken: Mapped[int] = mapped_column(Integer, default=0)
    unit_price: Mapped[int] = mapped_column(Integer)


class ProductSales(Base):
    """The units of a product sold in the last 90 days, as `sales` counted them last; a product without sales has no
    row."""

    __tablename__ = "product_sales"

    product_id: Mapped[int] = mapped_column(ForeignKey("products.id", ondelete="CASCADE"), primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), index=True)
    units: Mapped[int] = mapped_column(Integer)


class OrderMail(MailToSend, Base):
    """A mail about an order to its customer, one of each kind at most, and one for each refund: `refund_id` is empty
    for other kinds, `amount` is what was given back, in minor units. One that ended unsent gives way to the next."""

    __tablename__ = "order_mails"
    __table_args__ = (
        UniqueConstraint("order_id", "kind", "refund_id"),
        Index(None, "state", "next_try_at"),
        CheckConstraint("kind in ('received', 'ready', 'collected', 'cancelled', 'refunded')", name="kind_known"),
        state_known(),
    )

    order_id: Mapped[str] = mapped_column(ForeignKey("orders.id", ondelete="CASCADE"))
    kind: Mapped[str] = mapped_column(String(16))
    refund_id: Mapped[str] = mapped_column(String(36), default="", server_default="")
    amount: Mapped[int | None] = mapped_column(BigInteger)
    in_cash: Mapped[bool] = mapped_column(default=False, server_default=false())


class OrderNumbers(Base):
    """The number that a site's next order gets."""

    __tablename__ = "order_numbers"

    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True)
    next: Mapped[int] = mapped_column(Integer, default=1)
