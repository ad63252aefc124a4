"""Offers, as the shop sells them just now: a product without variants, or one of a product's variants; the prices of
orders, always computed here and never taken from a client; and the stock that orders take and give back.

A change of stock raises the product's revision, so that an editor that was opened before cannot write the old stock
back, and the activity log names the order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import Select, or_, select
from sqlalchemy.orm import selectinload

from app.domain.catalogue.models import Product, Variant
from app.domain.catalogue.product_rules import LARGEST_STOCK
from app.domain.orders.basket import Availability, availability
from app.domain.orders.models import Order, OrderLine
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Conflict, Invalid, NotFound, Problem
from app.domain.sites import activity
from app.domain.sites.sites import currency_of
from app.extensions import db

NOT_SOLD = "This product does not exist or is no longer sold."


@dataclass(frozen=True, slots=True)
class Offer:
    product: Product
    variant: Variant | None = None

    @property
    def needs_variant(self) -> bool:
        """Whether the product is sold in variants and the offer names none."""
        return self.variant is None and bool(self.product.variants)

    @property
    def sku(self) -> str:
        return self.variant.sku if self.variant else self.product.sku

    @property
    def options(self) -> Mapping[str, str]:
        return self.variant.options if self.variant else {}

    @property
    def price(self) -> int:
        """The price in minor units; a variant without a price has its product's."""
        own = self.variant.price if self.variant else None
        return self.product.price if own is None else own

    @property
    def stock(self) -> int | None:
        """The number that is left; None where stock is not counted."""
        return self.variant.stock if self.variant else self.product.stock

    @property
    def key(self) -> tuple[int, int | None]:
        return self.product.id, self.variant.id if self.variant else None


def offer_of(site_id: int, sku: str) -> Offer:
    """Return the offer that a SKU names. Raises NotFound for what is not sold, Invalid for a product of which a variant
    must be chosen."""
    of_variant = select(Variant.product_id).where(Variant.site_id == site_id, Variant.sku == sku)
    product_id = db.session.scalar(of_variant)
    named = Product.id == product_id if product_id is not None else Product.sku == sku
    product = db.session.scalar(_enabled_products(site_id).where(named))
    if product is None:
        raise NotFound(NOT_SOLD)
    variant = next((variant for variant in product.variants if variant.sku == sku), None)
    if product.variants and variant is None:
        raise Invalid.one("choose_variant", f"Please choose which {product.name} you would like.", "#/sku")
    return Offer(product, variant)


def offers_by_sku(site_id: int, skus: Collection[str], hidden_too: bool = False) -> dict[str, Offer]:
    """Return the offers of the SKUs, by SKU, in a few statements; what is not sold has none. The offer of a product
    with variants `needs_variant`. `hidden_too` includes products that are hidden."""
    of_variant = select(Variant.product_id).where(Variant.site_id == site_id, Variant.sku.in_(skus))
    named = or_(Product.sku.in_(skus), Product.id.in_(of_variant))
    query = _products(site_id) if hidden_too else _enabled_products(site_id)
    products = db.session.scalars(query.where(named)).all() if skus else []
    found = {product.sku: Offer(product) for product in products}
    found |= {variant.sku: Offer(product, variant) for product in products for variant in product.variants}
    return {sku: found[sku] for sku in skus if sku in found}


def offers_of(
    site_id: int, lines: Iterable[OrderLine], to_sell: bool = False, hidden_too: bool = False
) -> dict[int, Offer]:
    """Return the offers of the lines of an order, by the line's id; what is no longer sold has none. `to_sell` locks
    the products until the transaction ends, in the order of their ids. A change of a variant's stock locks its product,
    so that this lock is the variants', too. `hidden_too` includes products that were hidden since."""
    wanted = list(lines)
    ids = {line.product_id for line in wanted if line.product_id is not None}
    query = (
        (_products(site_id) if hidden_too else _enabled_products(site_id))
        .where(Product.id.in_(ids))
        .order_by(Product.id)
    )
    if to_sell:
        # Baskets may get lines of the products meanwhile: for a stronger lock a till that begins a basket would wait,
        # and it holds the order numbers, for which checkout waits next.
        query = query.with_for_update(key_share=True).execution_options(populate_existing=True)
    products = {product.id: product for product in db.session.scalars(query)} if ids else {}
    found = {line.id: offer_of_line(products.get(line.product_id or 0), line) for line in wanted}
    return {line_id: offer for line_id, offer in found.items() if offer is not None}


def _enabled_products(site_id: int) -> Select[Product]:
    return _products(site_id).where(Product.enabled)


def _products(site_id: int) -> Select[Product]:
    parts = selectinload(Product.variants), selectinload(Product.images)
    return select(Product).where(Product.site_id == site_id).options(*parts)


def offer_of_line(product: Product | None, line: OrderLine) -> Offer | None:
    """Return the offer that a line was made of; None where it is gone: the product, its variant, or the product without
    variants that has variants now."""
    if product is None:
        return None
    if line.variant_id is None:
        return None if product.variants or line.options else Offer(product)
    return next((Offer(product, variant) for variant in product.variants if variant.id == line.variant_id), None)


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
    """Set the order's currency and total. Prices, that of delivery too, include the tax; `tax` is what the shop adds to
    them."""
    order.currency = currency_of(order.site_id)
    order.total = max(0, subtotal_of(order) - order.discount + order.tax) + (order.delivery_price or 0)


def check_available(order: Order, offers: Mapping[int, Offer]) -> None:
    """Check that every line of an order can be sold. Raises Conflict `out_of_stock` that names each line of which there
    is not enough, or which is not sold."""
    problems = []
    for place, line in enumerate(order.lines):
        offer = offers.get(line.id)
        if offer is None:
            message = f"{line.name} ({line.sku}) is not sold any more."
            problems.append(Problem("not_sold", message, f"#/lines/{place}/skuCode"))
        elif found := shortage(place, offer.product.name, offer.sku, line.quantity, offer.stock):
            problems.append(found)
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


def take_stock(clock: Clock, line: OrderLine, offer: Offer, number: int) -> int:
    """Take a line from stock, and return how many of it are missing; nothing is taken where stock is not counted. The
    product must be locked."""
    if offer.stock is None:
        return 0
    line.stock_taken = min(line.quantity, offer.stock)
    if line.stock_taken:
        _change_stock(clock, offer.product, offer.variant, -line.stock_taken, number, f"took {line.stock_taken} of")
    return line.quantity - line.stock_taken


def give_back(clock: Clock, line: OrderLine, offer: Offer, number: int) -> None:
    """Return to stock what a line had taken, unless stock is not counted any more. The product must be locked."""
    taken, line.stock_taken = line.stock_taken, 0
    if taken and offer.stock is not None:
        _change_stock(clock, offer.product, offer.variant, taken, number, f"was cancelled and gave back {taken} of")


def _change_stock(clock: Clock, product: Product, variant: Variant | None, by: int, number: int, summary: str) -> None:
    holder = variant or product
    before = holder.stock or 0
    holder.stock = min(before + by, LARGEST_STOCK)
    product.revision += 1
    what = f"stock of {variant.sku}" if variant else "stock"
    activity.record(
        Author(product.site_id, f"Order {number}", clock),
        "product.stock",
        ("product", str(product.id)),
        f"Order {number} {summary} {product.name}",
        before={what: before},
        after={what: holder.stock},
    )
