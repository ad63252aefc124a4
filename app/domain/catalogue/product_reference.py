"""One product by any reference to it: its SKU, its SEO name or its id."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Select, func, select
from sqlalchemy.orm import selectinload

from app.domain.catalogue.models import Product, Variant
from app.domain.shared.address_values import id_in
from app.domain.shared.records import existing
from app.extensions import db

LONGEST = 200


def referred_product(site_id: int, reference: str) -> Product | None:
    """Return the first that exists: the product of this SKU, of this SEO name, of this id, with a variant of this SKU,
    or of a SKU that differs in case alone. None for no words and for a product of another site."""
    text = reference.strip()
    if not text or len(text) > LONGEST or "\0" in text:
        return None
    own = select(Product).where(Product.site_id == site_id).options(selectinload(Product.variants))
    found = (db.session.scalar(query.limit(1)) for query in _ways(own, site_id, text))
    return next((product for product in found if product is not None), None)


def _ways(own: Select[Product], site_id: int, text: str) -> Iterator[Select[Product]]:
    yield own.where(Product.sku == text)
    yield own.where(Product.seo_name == text)
    if product_id := id_in(text):
        yield own.where(Product.id == product_id)
    of_variants = select(Variant.product_id).where(Variant.site_id == site_id)
    yield own.where(Product.id.in_(of_variants.where(Variant.sku == text)))
    yield own.where(func.lower(Product.sku) == func.lower(text)).order_by(Product.id)
    yield own.where(Product.id.in_(of_variants.where(func.lower(Variant.sku) == func.lower(text)))).order_by(Product.id)


def product_referred_to(site_id: int, reference: str) -> Product:
    """Return the product of a reference. Raises NotFound."""
    shown = reference.strip()[:80]
    return existing(
        referred_product(site_id, reference), f"No product of this site has the SKU, SEO name or id “{shown}”."
    )
