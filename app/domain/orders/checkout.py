"""Checkout: a basket becomes an order, whole or not at all."""

from __future__ import annotations

import secrets
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from hashlib import sha256

from app.domain.delivery.deliveries import delivery_of
from app.domain.orders.basket import Basket, Contact, contact_problems, tidy_contact
from app.domain.orders.basket_contents import check_unlocked, contents_of, order_by_token, token_hash
from app.domain.orders.delivery_choice import (
    COLLECT,
    AgreedDelivery,
    DeliveryChoice,
    agree,
    choice_problems,
    tidy_choice,
)
from app.domain.orders.lifecycle import next_number
from app.domain.orders.limits import check_limits
from app.domain.orders.mail_contents import OrderMailKind
from app.domain.orders.mails import request_mail
from app.domain.orders.models import OPEN, SUBMITTED, Order
from app.domain.orders.offers import offers_of, set_total, take_stock
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Conflict, Invalid, NotFound
from app.domain.sites import activity
from app.domain.sites.sites import currency_of
from app.extensions import db

SHOPPER = "A shopper"
SHORTEST_SECRET = 32  # Characters: those of `secrets.token_urlsafe`, 256 bits, are 43.


class BasketChanged(Conflict):
    """The basket differs from the one the shopper saw: prices changed, or something is gone."""

    code = "basket_changed"


class DeliveryNotSeen(Conflict):
    """The shopper has not seen yet what the order costs with its delivery, which is `agreed`."""

    def __init__(self, agreed: AgreedDelivery) -> None:
        super().__init__("Check your order and its total. It has not been placed yet.")
        self.agreed = agreed


@dataclass(frozen=True, slots=True)
class Placed:
    """An order that was placed. `token` identifies it from now on. `is_new` is False when the basket had been ordered
    before, as by a button that was pressed twice."""

    order: Order
    token: str
    is_new: bool


def place(
    clock: Clock,
    site_id: int,
    token: str,
    contact: Contact,
    seen: str,
    address: str = "",
    form: str = "",
    recipient_key: bytes = b"",
    choice: DeliveryChoice = COLLECT,
) -> Placed:
    """Place the order of a basket: stock is counted down, and lines keep today's names and prices. `seen` is the
    `AgreedDelivery.seen` that the shopper agreed to, `address` the shopper's network address, `form` the secret of the
    form, by which one sent twice is recognised; under `recipient_key` the mails to one address are counted; `choice` is
    how the shopper wants to get it.

    The basket's token is invalid from then on: an attacker may have given the shopper a basket of their own, and must
    not read who ordered from it. The basket is locked first and its products after it, always in the same order, so
    that of two buyers of the last piece the second is refused. Raises NotFound, Invalid, Conflict while the basket is
    being paid, DeliveryNotSeen, BasketChanged, TooManyRequests.
    """
    new_token = _token_of_order(token, form)
    order = order_by_token(site_id, token, to_change=True)
    if order is None:
        token, order = new_token, order_by_token(site_id, new_token)
    if order is None:
        raise NotFound("Your basket is empty.")
    if order.status != OPEN:
        return Placed(order, token, is_new=False)
    check_unlocked(order)
    basket = contents_of(site_id, order, to_sell=True)
    clean, agreed = _check_details(site_id, contact, choice, basket)
    _check_basket(basket, seen, agreed)
    order.number = next_number(site_id)
    check_limits(clock, site_id, clean, address, recipient_key)
    _set_delivery(order, agreed)
    _sell(clock, order, basket)
    order.token_hash = token_hash(new_token)
    _submit(clock, order, clean)
    return Placed(order, new_token, is_new=True)


def _token_of_order(token: str, form: str) -> str:
    """Return the token of an order. It cannot be guessed from the basket's token alone."""
    secret = form if len(form) >= SHORTEST_SECRET else secrets.token_urlsafe()
    return urlsafe_b64encode(sha256(f"order {secret} {token}".encode()).digest()).decode().rstrip("=")


def _check_details(
    site_id: int, contact: Contact, choice: DeliveryChoice, basket: Basket
) -> tuple[Contact, AgreedDelivery]:
    """Return the contact, trimmed, and what the choice comes to. Raises Invalid with every problem."""
    delivery, currency, tidy = delivery_of(site_id), currency_of(site_id), tidy_contact(contact)
    wanted = tidy_choice(choice, tidy.name)
    if problems := [*contact_problems(tidy), *choice_problems(wanted, delivery, basket, currency)]:
        raise Invalid(problems)
    return tidy, agree(wanted, delivery, basket, currency)


def _check_basket(basket: Basket, seen: str, agreed: AgreedDelivery) -> None:
    if not basket.lines:
        raise NotFound("Your basket is empty.")
    if not basket.can_be_ordered:
        raise BasketChanged("Your basket changed. Check it: your order has not been placed.")
    if agreed.seen(basket) != seen:
        if seen == basket.seen:
            raise DeliveryNotSeen(agreed)
        raise BasketChanged(
            "Your basket or a price changed since you opened this page. Check the new total: your order has not been "
            "placed."
        )


def _sell(clock: Clock, order: Order, basket: Basket) -> None:
    offers = offers_of(order.site_id, order.lines)
    for line, as_shown in zip(order.lines, basket.lines, strict=True):
        line.sku, line.name, line.options = as_shown.sku, as_shown.name, dict(as_shown.options)
        line.unit_price = as_shown.price
        take_stock(clock, line, offers[line.id], order.number or 0)
    set_total(order)


def _set_delivery(order: Order, agreed: AgreedDelivery) -> None:
    if agreed.method is None:
        return
    order.delivery_method, order.delivery_days = agreed.method.name, agreed.method.days
    order.delivery_payment, order.payment_instructions = agreed.method.payment.value, agreed.instructions
    order.delivery_price, order.delivery_weight = agreed.price, agreed.weight
    address = agreed.address
    order.delivery_recipient, order.delivery_line1, order.delivery_line2 = (
        address.recipient,
        address.line1,
        address.line2,
    )
    order.delivery_city, order.delivery_postcode = address.city, address.postcode
    order.delivery_country = address.country


def _submit(clock: Clock, order: Order, contact: Contact) -> None:
    order.status = SUBMITTED
    order.contact_name, order.contact_email = contact.name, contact.email
    order.contact_phone, order.note = contact.phone, contact.note
    order.submitted_at = order.updated_at = clock.now()
    order.revision += 1
    # The contact is stored in the order alone, where it is purged in time; the log keeps its entries for good.
    author = Author(order.site_id, SHOPPER, clock)
    activity.record(author, "order.submit", ("order", order.id), f"Order {order.number} was placed")
    db.session.flush()
    request_mail(author, order, OrderMailKind.RECEIVED)
