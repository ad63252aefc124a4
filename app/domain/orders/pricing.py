"""The price of an order: always computed here from the catalogue, never from what a client says."""

from __future__ import annotations

from collections.abc import Mapping

from app.domain.orders.basket import Availability, availability
from app.domain.orders.models import Order, OrderLine
from app.domain.orders.offers import Offer, offers_of
from app.domain.shared.problems import Conflict, Problem
from app.domain.sites.sites import currency_of


def subtotal_of(order: Order) -> int:
    return sum(line.unit_price * line.quantity for line in order.lines)


def reprice(order: Order, to_sell: bool = False) -> Mapping[int, Offer]:
    """Set the name and price of every line of a basket to today's, and its total. Lines of what is no longer sold keep
    theirs. Return the offers by line; `to_sell` locks them (`offers_of`)."""
    offers = offers_of(order.site_id, order.lines, to_sell)
    for line in order.lines:
        if offer := offers.get(line.id):
            describe_line(line, offer)
    set_total(order)
    return offers


def describe_line(line: OrderLine, offer: Offer) -> None:
    line.sku, line.name, line.options = offer.sku, offer.product.name, dict(offer.options)
    line.unit_price = offer.price


def set_total(order: Order) -> None:
    """Set the order's currency and total. Prices include the tax; `tax` is what the shop adds to them."""
    order.currency = currency_of(order.site_id)
    order.total = max(0, subtotal_of(order) - order.discount + order.tax)


def check_available(order: Order, offers: Mapping[int, Offer]) -> None:
    """Check that every line of an order can be sold. Raises Conflict `out_of_stock` that names each line of which there
    is not enough, or which is not sold."""
    problems = [found for place, line in enumerate(order.lines) if (found := _shortage(place, line, offers))]
    if problems:
        raise out_of_stock(problems)


def out_of_stock(problems: list[Problem]) -> Conflict:
    words = problems[0].message if len(problems) == 1 else f"{len(problems)} lines cannot be sold as they are."
    return Conflict(words, "out_of_stock", errors=[problem.as_json() for problem in problems])


def shortage(place: int, name: str, sku: str, quantity: int, stock: int | None) -> Problem | None:
    """Return the problem that keeps a line from being sold; None where nothing does."""
    found = availability(stock, quantity)
    if found is Availability.GOOD:
        return None
    if found is Availability.SOLD_OUT:
        return Problem("sold_out", f"{name} ({sku}) is sold out.", f"#/lines/{place}/quantity")
    return Problem("insufficient_stock", f"Only {stock} of {name} ({sku}) left.", f"#/lines/{place}/quantity")


def _shortage(place: int, line: OrderLine, offers: Mapping[int, Offer]) -> Problem | None:
    offer = offers.get(line.id)
    if offer is None:
        return Problem("not_sold", f"{line.name} ({line.sku}) is not sold any more.", f"#/lines/{place}/skuCode")
    return shortage(place, offer.product.name, offer.sku, line.quantity, offer.stock)
