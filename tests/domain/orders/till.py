"""A till that fills baskets by SKU, has them paid and submits them."""

from __future__ import annotations

from dataclasses import dataclass

from app.domain.orders import payment
from app.domain.orders.baskets import Owner, WantedLine, create_basket, replace_lines
from app.domain.orders.lifecycle import submit
from app.domain.orders.models import Order
from app.domain.orders.payment import PaidSums
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.extensions import db
from app.jobs import events
from app.transaction import transaction

Lines = dict[str, int]


def pay_by_card(clock: Clock, order_id: str, amount: int) -> None:
    """Pay an order as if a card had paid so much in all."""
    with transaction():
        order = payment.lock_order(order_id)
        assert order is not None
        payment.apply_payments(clock, order, PaidSums(by_card=amount))


def wanted(lines: Lines) -> list[WantedLine]:
    return [WantedLine(sku, quantity) for sku, quantity in lines.items()]


@dataclass
class Till:
    author: Author
    user_id: int

    def fill(self, lines: Lines) -> str:
        with transaction():
            return create_basket(self.author, Owner(self.user_id, "POS", "tml_1"), wanted(lines)).id

    def replace(self, basket_id: str, lines: Lines, revision: int) -> Order:
        with transaction():
            return replace_lines(self.author, basket_id, wanted(lines), revision)

    def lock(self, basket_id: str) -> int:
        """What is due, for which a payment is under way from now on."""
        with transaction():
            order = payment.order_to_pay(self.author.site_id, basket_id)
            due = payment.amount_to_take(order, None)
            payment.apply_payments(self.author.clock, order, PaidSums(reserved=due))
            return due

    def pay(self, basket_id: str, amount: int | None = None) -> int:
        due = self.lock(basket_id)
        paid = due if amount is None else amount
        pay_by_card(self.author.clock, basket_id, paid)
        return paid

    def submit(self, basket_id: str, accept_difference: bool = False) -> Order:
        with transaction():
            return submit(self.author, basket_id, accept_difference)

    def deliver(self) -> None:
        """What the worker does next."""
        events.deliver()


def order(order_id: str) -> Order:
    """As it is stored now."""
    db.session.rollback()
    return db.session.get_one(Order, order_id)
