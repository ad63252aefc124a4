"""Products for sale, as programs read them: enabled products with variants and pictures, in a few statements a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Select, func, or_, select, union_all
from sqlalchemy.orm import selectinload

from app.domain.catalogue.models import Collection, CollectionEntry, Product, Variant
from app.domain.catalogue.queries import contains_words
from app.domain.shared.paging import Paged
from app.domain.shared.records import existing
from app.extensions import db

UPC_DIGITS, EAN_DIGITS = 12, 13


@dataclass(frozen=True, slots=True)
class Lookup:
    """The filters of a list of products; each that is not empty must hold. Each of the `words` is in name, SKU or SEO
    name, or is a code; `upc` is a product's or a variant's."""

    words: str = ""
    upc: str = ""
    seo_name: str = ""


def products_for_sale(site_id: int, lookup: Lookup, page_number: int, page_size: int) -> Paged[Product]:
    """Return a page of products by name, straight from the database."""
    ids = _ids(site_id).where(*_conditions(site_id, lookup)).order_by(Product.name, Product.id)
    return _page(site_id, ids, page_number, page_size)


def products_of_collection(site_id: int, seo_name: str, page_number: int, page_size: int) -> Paged[Product]:
    """Return a page of a collection's products in its own order. Raises NotFound for one that is not there or
    hidden."""
    wanted = Collection.site_id == site_id, Collection.seo_name == seo_name, Collection.enabled
    found = db.session.scalar(select(Collection.id).where(*wanted))
    collection_id = existing(found, "This collection does not exist or has been removed.")
    entries = _ids(site_id).join(CollectionEntry, CollectionEntry.product_id == Product.id)
    ids = entries.where(CollectionEntry.collection_id == collection_id).order_by(CollectionEntry.position, Product.id)
    return _page(site_id, ids, page_number, page_size)


def product_by_sku(site_id: int, sku: str) -> Product:
    """Return the product for sale with a variant of this SKU, else the one with this SKU itself. Raises NotFound."""
    of_variant = db.session.scalar(select(Variant.product_id).where(Variant.site_id == site_id, Variant.sku == sku))
    named = Product.sku == sku if of_variant is None else Product.id == of_variant
    return existing(
        db.session.scalar(_whole(site_id).where(named)), "This product does not exist or is no longer sold."
    )


def products_by_ids(site_id: int, ids: Sequence[int]) -> list[Product]:
    """Return the products that are for sale, in the order of the ids."""
    found = {product.id: product for product in db.session.scalars(_whole(site_id).where(Product.id.in_(ids)))}
    return [found[product_id] for product_id in ids if product_id in found]


def _page(site_id: int, ids: Select[int], page_number: int, page_size: int) -> Paged[Product]:
    total = db.session.scalar(select(func.count()).select_from(ids.order_by(None).subquery())) or 0
    shown = db.session.scalars(ids.limit(page_size).offset((page_number - 1) * page_size)).all()
    return Paged(products_by_ids(site_id, shown) if shown else [], page_number, page_size, total)


def _ids(site_id: int) -> Select[int]:
    return select(Product.id).where(Product.site_id == site_id, Product.enabled)


def _whole(site_id: int) -> Select[Product]:
    parts = selectinload(Product.variants), selectinload(Product.images)
    return select(Product).where(Product.site_id == site_id, Product.enabled).options(*parts)


def _conditions(site_id: int, lookup: Lookup) -> list[ColumnElement[bool]]:
    words = dict.fromkeys(lookup.words.split())
    conditions = [or_(contains_words(word), _has_code(site_id, [word], or_skus=True)) for word in words]
    if lookup.upc:
        conditions.append(_has_code(site_id, _spellings(lookup.upc)))
    return [*conditions, Product.seo_name == lookup.seo_name] if lookup.seo_name else conditions


def _has_code(site_id: int, codes: Sequence[str], or_skus: bool = False) -> ColumnElement[bool]:
    """Return the condition that a UPC of the product or of a variant is among the codes; with `or_skus` also a
    variant's SKU."""
    found = [
        select(Product.id).where(Product.site_id == site_id, Product.upc.in_(codes)),
        select(Variant.product_id).where(Variant.site_id == site_id, Variant.upc.in_(codes)),
    ]
    if or_skus:
        found.append(select(Variant.product_id).where(Variant.site_id == site_id, Variant.sku.in_(codes)))
    return Product.id.in_(union_all(*found))


def _spellings(upc: str) -> list[str]:
    """Return a UPC in both spellings: scanners read one of 12 digits as an EAN of 13 that begins with 0, or the other
    way round."""
    if len(upc) == UPC_DIGITS:
        return [upc, f"0{upc}"]
    return [upc, upc[1:]] if len(upc) == EAN_DIGITS and upc.startswith("0") else [upc]
