"""Baskets of programs and tills: the same orders as the storefront's, filled by SKU and identified by their id. Call
what changes something within a transaction.

Prices and totals are the shop's; clients give SKUs and quantities. Clients see an open basket at today's prices, and
with the stored ones once a payment is under way or it is submitted.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy.orm import selectinload

from app.domain.orders.basket import MOST_OF_ONE
from app.domain.orders.lifecycle import next_number
from app.domain.orders.models import CANCELLED, OPEN, SUBMITTED, Order, OrderLine
from app.domain.orders.offers import (
    Offer,
    describe_line,
    offers_by_sku,
    offers_of,
    out_of_stock,
    set_total,
    shortage,
    subtotal_of,
)
from app.domain.shared.author import Author
from app.domain.shared.money import format_money
from app.domain.shared.problems import Conflict, Invalid, Problem, StaleRevision, Unprocessable
from app.domain.shared.records import existing, find_record, flush_or_conflict
from app.domain.sites import activity
from app.domain.sites.sites import currency_of
from app.extensions import db

NO_BASKET = "There is no such basket on this site."
STALE = "This basket was changed since you read it. Read it again."
LOCKED = "This basket is being paid, or was paid, so it stays as it is."


@dataclass(frozen=True, slots=True)
class WantedLine:
    sku: str
    quantity: int


@dataclass(frozen=True, slots=True)
class Owner:
    """The user who fills a basket, and where; `location_id` is the one that clients name."""

    user_id: int
    channel: str
    location_id: str | None = None


def find_basket(site_id: int, basket_id: str, to_change: bool = False) -> Order:
    """Return a basket of a program, also one that was submitted since. Raises NotFound, also for one of the storefront,
    which only the shopper's token identifies."""
    found = find_record(Order, site_id, basket_id, to_change, [selectinload(Order.lines)])
    is_of_storefront = found is not None and found.channel == "WEB" and found.owner_id is None
    return existing(None if is_of_storefront else found, NO_BASKET)


def create_basket(author: Author, owner: Owner, wanted: Sequence[WantedLine], discount: int = 0) -> Order:
    """Create a basket. Its number is that of the order it becomes. `discount` is what an agent takes off, in minor
    units. Raises Invalid, Unprocessable `discount_exceeds_subtotal`, and Conflict `out_of_stock`."""
    offers = _offers_for(author.site_id, wanted)
    now = author.now()
    order = Order(
        id=str(uuid.uuid4()),
        site_id=author.site_id,
        number=next_number(author.site_id),
        status=OPEN,
        channel=owner.channel,
        owner_id=owner.user_id,
        pos_location_id=owner.location_id,
        currency=currency_of(author.site_id),
        discount=0,
        tax=0,
        revision=1,
        created_at=now,
        updated_at=now,
        lines=[],
    )
    db.session.add(order)
    _fill(order, wanted, offers)
    _set_discount(author, order, discount)
    return order


def replace_lines(
    author: Author, basket_id: str, wanted: Sequence[WantedLine], revision: int, discount: int = 0
) -> Order:
    """Replace the lines and the discount of a basket. Raises NotFound, Invalid, StaleRevision, Unprocessable
    `discount_exceeds_subtotal`, and Conflict `basket_submitted`, `basket_locked` or `out_of_stock`."""
    order = find_basket(author.site_id, basket_id, to_change=True)
    if order.status != OPEN:
        raise Conflict("This basket was submitted already.", "basket_submitted")
    if order.is_locked:
        raise Conflict(LOCKED, "basket_locked")
    if order.revision != revision:
        raise StaleRevision(STALE, order.revision)
    _fill(order, wanted, _offers_for(author.site_id, wanted))
    _set_discount(author, order, discount)
    order.revision += 1
    order.updated_at = author.now()
    flush_or_conflict("The shop just changed one of these products. Please try again.")
    return order


def take_over(order: Order, user_id: int, location_id: str) -> None:
    """Make another user, at their till, the owner of an open basket. Nothing changes once a payment is under way. Call
    it within a transaction, with the order locked."""
    if order.status == OPEN and not order.is_locked:
        order.owner_id, order.pos_location_id = user_id, location_id
        db.session.flush()


def _offers_for(site_id: int, wanted: Sequence[WantedLine]) -> Mapping[str, Offer]:
    """Return the offers that the lines name, by SKU. Raises Invalid with every line that names nothing for sale or more
    than one basket holds, and Conflict with every line of which there is not enough."""
    offers = offers_by_sku(site_id, list(dict.fromkeys(line.sku for line in wanted)))
    sums = _running_sums(wanted)
    problems = [
        found
        for place, line in enumerate(wanted)
        if (found := _line_problem(place, line.sku, sums[place], offers.get(line.sku)))
    ]
    if problems:
        raise Invalid(problems)
    named = [(place, offers[line.sku]) for place, line in enumerate(wanted)]
    short = [shortage(place, offer.product.name, offer.sku, sums[place], offer.stock) for place, offer in named]
    if short := [problem for problem in short if problem is not None]:
        raise out_of_stock(short)
    return offers


def _running_sums(wanted: Sequence[WantedLine]) -> list[int]:
    """Return for each line the quantity of its SKU up to and with this line: a SKU that is named twice is one line."""
    sums: dict[str, int] = {}
    result = []
    for line in wanted:
        sums[line.sku] = sums.get(line.sku, 0) + line.quantity
        result.append(sums[line.sku])
    return result


def _line_problem(place: int, sku: str, quantity: int, offer: Offer | None) -> Problem | None:
    """Return the problem of a wanted line that has nothing to do with stock; None where there is none."""
    at = f"#/lines/{place}"
    if offer is None:
        return Problem("unknown_sku", f"The shop sells nothing with the SKU {sku}.", f"{at}/skuCode")
    if offer.needs_variant:
        return Problem("choose_variant", f"{sku} is sold in variants: name the SKU of one.", f"{at}/skuCode")
    if quantity > MOST_OF_ONE:
        return Problem("too_many", f"At most {MOST_OF_ONE} of {sku} at once.", f"{at}/quantity")
    return None


def _fill(order: Order, wanted: Sequence[WantedLine], offers: Mapping[str, Offer]) -> None:
    """Replace the lines of the basket by the wanted ones; lines of products that it had before keep their ids."""
    quantities: dict[str, int] = {}
    for one in wanted:
        quantities[one.sku] = quantities.get(one.sku, 0) + one.quantity
    known = {(line.product_id, line.variant_id): line for line in order.lines}
    lines: list[OrderLine] = []
    for position, (sku, quantity) in enumerate(quantities.items()):
        product_id, variant_id = offers[sku].key
        line = known.get(offers[sku].key)
        if line is None:
            line = OrderLine(site_id=order.site_id, product_id=product_id, variant_id=variant_id, stock_taken=0)
        line.position, line.quantity = position, quantity
        describe_line(line, offers[sku])
        lines.append(line)
    order.lines = lines
    set_total(order)
    flush_or_conflict("The shop just changed one of these products. Please try again.")


def _set_discount(author: Author, order: Order, discount: int) -> None:
    """Set the discount and the total. Raises Unprocessable `discount_exceeds_subtotal`."""
    subtotal = subtotal_of(order)
    if discount > subtotal:
        message = f"The goods come to {format_money(subtotal, order.currency)}; a discount cannot be more."
        raise Unprocessable(message, "discount_exceeds_subtotal", maxDiscount=subtotal)
    if discount == order.discount:
        return
    before, order.discount = order.discount, discount
    set_total(order)
    summary = f"Order {order.number}: the discount is {format_money(discount, order.currency)}"
    amounts = {"discount": before}, {"discount": discount}
    activity.record(author, "order.discount", ("order", order.id), summary, *amounts)


class PaymentState(StrEnum):
    NONE = "NONE"
    IN_PROGRESS = "IN_PROGRESS"
    PAID = "PAID"


@dataclass(frozen=True, slots=True)
class LineView:
    id: int
    sku_code: str
    name: str
    options: Mapping[str, str]
    quantity: int
    unit_price: int

    @property
    def line_total(self) -> int:
        return self.unit_price * self.quantity


@dataclass(frozen=True, slots=True)
class BasketView:
    """A basket and its lines as clients see them. Money in minor units. `status`: an order that was handed over counts
    as SUBMITTED."""

    order: Order
    lines: Sequence[LineView]

    @property
    def status(self) -> str:
        return self.order.status if self.order.status in (OPEN, CANCELLED) else SUBMITTED

    @property
    def payment_state(self) -> PaymentState:
        return payment_state(self.order)

    @property
    def subtotal(self) -> int:
        return sum(line.line_total for line in self.lines)

    @property
    def total(self) -> int:
        return max(0, self.subtotal - self.order.discount + self.order.tax)

    @property
    def amount_due(self) -> int:
        """What is still to be paid at the shown prices."""
        return self.order.amount_due if self.order.is_locked else self.total


def payment_state(order: Order) -> PaymentState:
    if order.paid_at is not None:
        return PaymentState.PAID
    return PaymentState.IN_PROGRESS if order.is_locked else PaymentState.NONE


def view_basket(order: Order) -> BasketView:
    """Return the view of a basket; today's prices are read, and nothing is changed."""
    is_frozen = order.status != OPEN or order.is_locked
    offers = {} if is_frozen else offers_of(order.site_id, order.lines)
    lines = []
    for line in order.lines:
        offer = offers.get(line.id)
        name, price = (offer.product.name, offer.price) if offer else (line.name, line.unit_price)
        lines.append(LineView(line.id, line.sku, name, line.options, line.quantity, price))
    return BasketView(order, lines)
