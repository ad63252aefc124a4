"""Offers, as the shop sells them just now: a product without variants, or one of a product's variants."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import Select, or_, select
from sqlalchemy.orm import selectinload

from app.domain.catalogue.models import Product, Variant
from app.domain.orders.models import OrderLine
from app.domain.shared.problems import Invalid, NotFound
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
    product = db.session.scalar(_enabled(site_id).where(named))
    if product is None:
        raise NotFound(NOT_SOLD)
    variant = next((variant for variant in product.variants if variant.sku == sku), None)
    if product.variants and variant is None:
        raise Invalid.one("choose_variant", f"Please choose which {product.name} you would like.", "#/sku")
    return Offer(product, variant)


def offers_by_sku(site_id: int, skus: Collection[str]) -> dict[str, Offer]:
    """Return the offers of the SKUs, by SKU, in a few statements; what is not sold has none. The offer of a product
    with variants `needs_variant`."""
    of_variant = select(Variant.product_id).where(Variant.site_id == site_id, Variant.sku.in_(skus))
    named = or_(Product.sku.in_(skus), Product.id.in_(of_variant))
    products = db.session.scalars(_enabled(site_id).where(named)).all() if skus else []
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
    query = (_any(site_id) if hidden_too else _enabled(site_id)).where(Product.id.in_(ids)).order_by(Product.id)
    if to_sell:
        # Baskets may get lines of the products meanwhile: for a stronger lock a till that begins a basket would wait,
        # and it holds the order numbers, for which checkout waits next.
        query = query.with_for_update(key_share=True).execution_options(populate_existing=True)
    products = {product.id: product for product in db.session.scalars(query)} if ids else {}
    found = {line.id: offer_of_line(products.get(line.product_id or 0), line) for line in wanted}
    return {line_id: offer for line_id, offer in found.items() if offer is not None}


def _enabled(site_id: int) -> Select[Product]:
    return _any(site_id).where(Product.enabled)


def _any(site_id: int) -> Select[Product]:
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
