"""Products as lines of products.jsonl, a batch at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import selectinload

from app.domain.bundles.archive import MEDIA
from app.domain.bundles.exporting.times import time_text
from app.domain.catalogue.models import Product, Variant
from app.extensions import db

BATCH = 500


def product_rows(site_id: int, pictures: set[str]) -> Iterator[dict[str, Any]]:
    """In the order in which they were added. The files of their pictures are added to `pictures`."""
    last = 0
    while batch := _batch(site_id, last):
        for product in batch:
            pictures.update(image.file for image in product.images)
            yield _row(product)
        last = batch[-1].id


def _batch(site_id: int, after: int) -> list[Product]:
    query = (
        select(Product)
        .where(Product.site_id == site_id, Product.id > after)
        .order_by(Product.id)
        .limit(BATCH)
        .options(selectinload(Product.variants), selectinload(Product.images))
    )
    return list(db.session.scalars(query))


def _row(product: Product) -> dict[str, Any]:
    """Every field is said, so that the import leaves nothing as it was."""
    return {
        "sku": product.sku,
        "name": product.name,
        "seoName": product.seo_name,
        "manufacturer": product.manufacturer,
        "description": product.description,
        "price": product.price,
        "compareAtPrice": product.compare_at_price,
        "upc": product.upc,
        "stock": product.stock,
        "enabled": product.enabled,
        "featured": product.featured,
        "rating": product.rating,
        "images": [f"{MEDIA}{image.file}" for image in product.images],
        "searchTerms": product.search_terms,
        "canonicalUrl": product.canonical_url,
        "createdAt": time_text(product.created_at),
        "taxonomy": _taxonomy(product),
        "variants": [_variant(variant) for variant in product.variants],
    }


def _taxonomy(product: Product) -> dict[str, Any] | None:
    if product.taxonomy_level_id is None:
        return None
    return {"levelId": product.taxonomy_level_id, "attributes": dict(sorted(product.taxonomy_attributes.items()))}


def _variant(variant: Variant) -> dict[str, Any]:
    return {
        "sku": variant.sku,
        "upc": variant.upc,
        "price": variant.price,
        "stock": variant.stock,
        "options": dict(sorted(variant.options.items())),
    }
