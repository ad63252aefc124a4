"""Use cases of a shopper's basket, identified by a random token: who has the token has the basket. Call those that
change something within a transaction. Quantities above the stock are reduced to it, and the answer says so."""

from __future__ import annotations

import hashlib
import secrets
import uuid
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Select, select
from sqlalchemy.orm import selectinload

from app.domain.orders.basket import MOST_LINES, MOST_OF_ONE, Availability, Basket, BasketLine, availability
from app.domain.orders.models import OPEN, Order, OrderLine
from app.domain.orders.offers import Offer, offer_of, offers_of
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Conflict, Invalid, NotFound, TooManyRequests
from app.domain.shared.records import flush_or_conflict
from app.domain.sites.sites import currency_of
from app.extensions import db


@dataclass(frozen=True, slots=True)
class BasketChange:
    """The basket after a change: its token, the number of its items, and the changed line with its id and its new
    `quantity`; `product_id` is 0 where the product is gone. `short` says that more were wanted than are in stock."""

    token: str
    items: int
    line_id: int
    name: str
    quantity: int
    product_id: int
    short: bool = False


def basket_of(site_id: int, token: str | None) -> Basket:
    """Return the basket at today's prices; an empty one where there is none."""
    order = db.session.scalar(_basket(site_id, token)) if token else None
    return contents_of(site_id, order) if order else Basket()


def contents_of(site_id: int, order: Order, to_sell: bool = False) -> Basket:
    """Return the contents of a basket at today's prices. `to_sell` locks their products (`offers_of`)."""
    offers = offers_of(site_id, order.lines, to_sell)
    return Basket(tuple(_line(line, offers.get(line.id)) for line in order.lines))


def add(
    clock: Clock, site_id: int, token: str | None, sku: str, quantity: int, may_begin: Callable[[], bool] = lambda: True
) -> BasketChange:
    """Add a quantity of a SKU to the basket, or to a new one where the token names none: tokens are made here only, so
    that no one can make another shopper use one they know. Raises NotFound, Invalid, Conflict for what is sold out, and
    TooManyRequests where a new basket is needed that `may_begin` refuses."""
    _check_quantity(quantity, 1)
    offer = offer_of(site_id, sku)
    order = db.session.scalar(_basket(site_id, token, to_change=True)) if token else None
    if order is None:
        if not may_begin():
            raise TooManyRequests("Too many baskets were started from your network. Please try again in a minute.", 60)
        token, order = _new_basket(clock, site_id)
    line = next((line for line in order.lines if (line.product_id, line.variant_id) == offer.key), None)
    if line is None:
        line = _new_line(order, offer)
    wanted = (line.quantity or 0) + quantity
    return _set_quantity(clock, order, line, offer, wanted, token or "")


def change(clock: Clock, site_id: int, token: str | None, line_id: int, quantity: int) -> BasketChange:
    """Change the quantity of a line; 0 takes the line out. Raises NotFound, Invalid, Conflict for what is sold out."""
    _check_quantity(quantity, 0)
    order = db.session.scalar(_basket(site_id, token, to_change=True)) if token else None
    line = next((line for line in order.lines if line.id == line_id), None) if order else None
    if order is None or line is None or token is None:
        raise NotFound("This is no longer in your basket.")
    if quantity == 0:
        order.lines.remove(line)
        _touch(clock, order)
        return BasketChange(token, _items(order), line.id, line.name, 0, line.product_id or 0)
    offer = offers_of(site_id, [line]).get(line.id)
    if offer is None:
        raise Conflict("This is no longer sold. Please remove it.")
    return _set_quantity(clock, order, line, offer, quantity, token)


def token_hash(token: str) -> str:
    """Return the hash under which the database stores a token, so that a reader of the database cannot take over a
    basket."""
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


def order_by_token(site_id: int, token: str, to_change: bool = False) -> Order | None:
    """Return the basket or order of a token, whatever its status; None where there is none."""
    query = (
        select(Order)
        .where(Order.site_id == site_id, Order.token_hash == token_hash(token))
        .options(selectinload(Order.lines))
    )
    return db.session.scalar(_for_update(query) if to_change else query)


def _basket(site_id: int, token: str | None, to_change: bool = False) -> Select[Order]:
    query = (
        select(Order)
        .where(Order.site_id == site_id, Order.token_hash == token_hash(token or ""), Order.status == OPEN)
        .options(selectinload(Order.lines))
    )
    return _for_update(query) if to_change else query


def _for_update(query: Select[Order]) -> Select[Order]:
    """Lock the basket of a query: changes of a basket take turns, and each sees what the one before left."""
    return query.with_for_update().execution_options(populate_existing=True)


def _new_basket(clock: Clock, site_id: int) -> tuple[str, Order]:
    token, now = secrets.token_urlsafe(32), clock.now()
    order = Order(
        id=str(uuid.uuid4()),
        site_id=site_id,
        status=OPEN,
        channel="WEB",
        currency=currency_of(site_id),
        token_hash=token_hash(token),
        revision=0,
        created_at=now,
        lines=[],
    )
    db.session.add(order)
    return token, order


def _new_line(order: Order, offer: Offer) -> OrderLine:
    if len(order.lines) >= MOST_LINES:
        raise Conflict(f"A basket holds at most {MOST_LINES} different things. Please order these first.")
    position = max((line.position for line in order.lines), default=-1) + 1
    product_id, variant_id = offer.key
    line = OrderLine(
        site_id=order.site_id, position=position, product_id=product_id, variant_id=variant_id, stock_taken=0
    )
    order.lines.append(line)
    return line


def _set_quantity(clock: Clock, order: Order, line: OrderLine, offer: Offer, wanted: int, token: str) -> BasketChange:
    left = MOST_OF_ONE if offer.stock is None else min(offer.stock, MOST_OF_ONE)
    if left < 1:
        raise Conflict(f"{offer.product.name} is sold out.")
    line.quantity = min(wanted, left)
    line.sku, line.name, line.options = offer.sku, offer.product.name, dict(offer.options)
    line.unit_price = offer.price
    _touch(clock, order)
    short = wanted > left
    return BasketChange(token, _items(order), line.id, line.name, line.quantity, offer.product.id, short)


def _touch(clock: Clock, order: Order) -> None:
    check_unlocked(order)
    order.revision += 1
    order.updated_at = clock.now()
    flush_or_conflict("The shop just changed this product. Please try again.")


def check_unlocked(order: Order) -> None:
    """Check that no payment of the basket is under way or made. Raises Conflict."""
    if order.is_locked:
        raise Conflict("This basket is being paid, so it stays as it is.", "basket_locked")


def _items(order: Order) -> int:
    return sum(line.quantity for line in order.lines)


def _check_quantity(quantity: int, least: int) -> None:
    if not least <= quantity <= MOST_OF_ONE:
        raise Invalid.one("invalid_quantity", f"Please choose a number from {least} to {MOST_OF_ONE}.", "#/quantity")


def _line(line: OrderLine, offer: Offer | None) -> BasketLine:
    if offer is None:
        return BasketLine(
            line.id, line.sku, line.name, line.options, line.quantity, line.unit_price, availability=Availability.GONE
        )
    return BasketLine(
        id=line.id,
        sku=offer.sku,
        name=offer.product.name,
        options=offer.options,
        quantity=line.quantity,
        price=offer.price,
        price_before=line.unit_price if line.unit_price != offer.price else None,
        left=offer.stock,
        availability=availability(offer.stock, line.quantity),
        product_id=offer.product.id,
        seo_name=offer.product.seo_name,
        attributes=offer.product.taxonomy_attributes or {},
    )
