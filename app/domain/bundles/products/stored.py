"""The stored products of a batch."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import select

from app.domain.catalogue.models import Product, ProductImage, Variant
from app.domain.catalogue.product_rules import VariantDraft
from app.domain.taxonomy.products.classification import values_held
from app.domain.taxonomy.tree import TaxonomyTree
from app.extensions import db


@dataclass(slots=True)
class StoredProduct:
    """A product as the database holds it. `columns` are the product's own; `variant_ids` has the records of `variants`
    by SKU, `images` the files of its pictures with their descriptions."""

    id: int
    columns: dict[str, Any]
    variants: list[VariantDraft] = field(default_factory=list)
    variant_ids: dict[str, int] = field(default_factory=dict)
    images: list[tuple[str, str]] = field(default_factory=list)

    def values_held(self, tree: TaxonomyTree) -> dict[str, Any]:
        """Return the product's attribute values in their current words."""
        return values_held(tree, self.columns["taxonomy_level_id"], self.columns["taxonomy_attributes"])


def hold_products(site_id: int, skus: Collection[str]) -> None:
    """Lock the products until the transaction ends, in the order of their ids as wherever several are changed at once:
    in the order of the file, this and another transaction could deadlock."""
    query = select(Product.id).where(Product.site_id == site_id, Product.sku.in_(skus)).order_by(Product.id)
    db.session.execute(query.with_for_update())


def stored_products(site_id: int, skus: Collection[str]) -> dict[str, StoredProduct]:
    """Return the stored products by SKU, in three queries."""
    table = Product.__table__
    query = select(table).where(table.c.site_id == site_id, table.c.sku.in_(skus))
    found = {row.id: StoredProduct(row.id, dict(row._mapping)) for row in db.session.execute(query)}
    _add_variants(found)
    _add_images(found)
    return {product.columns["sku"]: product for product in found.values()}


def _add_variants(found: dict[int, StoredProduct]) -> None:
    query = select(Variant.__table__).where(Variant.product_id.in_(found)).order_by(Variant.position, Variant.id)
    for row in db.session.execute(query):
        product = found[row.product_id]
        product.variants.append(VariantDraft(row.sku, row.upc, row.price, row.stock, row.options, row.picture))
        product.variant_ids[row.sku] = row.id


def _add_images(found: dict[int, StoredProduct]) -> None:
    query = (
        select(ProductImage.product_id, ProductImage.file, ProductImage.alt)
        .where(ProductImage.product_id.in_(found))
        .order_by(ProductImage.position, ProductImage.id)
    )
    for product_id, file, alt in db.session.execute(query):
        found[product_id].images.append((file, alt))


def needed_fields(site_id: int, skus: Collection[str]) -> dict[str, dict[str, Any]]:
    """Return name and price of the stored products, which every row of a product needs, by SKU."""
    query = select(Product.sku, Product.name, Product.price).where(Product.site_id == site_id, Product.sku.in_(skus))
    return {sku: {"name": name, "price": price} for sku, name, price in db.session.execute(query)}


def variant_options(site_id: int, skus: Collection[str]) -> dict[str, Mapping[str, str]]:
    """Return the options of stored variants, by their SKUs."""
    query = select(Variant.sku, Variant.options).where(Variant.site_id == site_id, Variant.sku.in_(skus))
    return dict(db.session.execute(query).all())


def variant_owners(site_id: int, skus: Collection[str]) -> dict[str, int]:
    """Return the ids of the products whose variants have these SKUs, by the SKU."""
    if not skus:
        return {}
    query = select(Variant.sku, Variant.product_id).where(Variant.site_id == site_id, Variant.sku.in_(skus))
    return dict(db.session.execute(query).all())


def seo_names(site_id: int) -> list[str]:
    return list(db.session.scalars(select(Product.seo_name).where(Product.site_id == site_id)))
