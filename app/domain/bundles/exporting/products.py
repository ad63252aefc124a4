"""Products as lines of products.jsonl, a batch at a time."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import selectinload

from app.domain.bundles.archive import MEDIA
from app.domain.bundles.products.rows import COLUMNS
from app.domain.catalogue.models import Product, ProductImage, Variant
from app.extensions import db

BATCH = 500


def product_rows(site_id: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of all products in the order in which they were added."""
    last = 0
    while batch := _batch(site_id, last):
        yield from [_row(product) for product in batch]  # A watcher ends the transaction that read them.
        last = batch[-1].id


def picture_files(site_id: int) -> Iterator[str]:
    """The files of the products' pictures, each once, by name."""
    last = ""
    while batch := _files(site_id, last):
        yield from batch
        last = batch[-1]


def _files(site_id: int, after: str) -> list[str]:
    query = select(ProductImage.file).where(ProductImage.site_id == site_id, ProductImage.file > after).distinct()
    return list(db.session.scalars(query.order_by(ProductImage.file).limit(BATCH)))


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
    """Return the row of a product. It has every field, so that an import leaves none as it was."""
    plain = {name: getattr(product, column) for name, column in COLUMNS.items()}
    canonical_url = plain.pop("canonicalUrl")
    level_id, attributes = product.taxonomy_level_id, dict(sorted(product.taxonomy_attributes.items()))
    alts = [image.alt for image in product.images]
    return plain | {
        "images": [f"{MEDIA}{image.file}" for image in product.images],
        **({"imageTexts": alts} if any(alts) else {}),
        "searchTerms": product.search_terms,
        "canonicalUrl": canonical_url,
        "createdAt": product.created_at.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z",
        "taxonomy": None if level_id is None else {"levelId": level_id, "attributes": attributes},
        "variants": [_variant(product, variant) for variant in product.variants],
    }


def _variant(product: Product, variant: Variant) -> dict[str, Any]:
    picture = product.picture_of(variant)
    return {
        "sku": variant.sku,
        "upc": variant.upc,
        "price": variant.price,
        "stock": variant.stock,
        "options": dict(sorted(variant.options.items())),
        **({"image": f"{MEDIA}{picture.file}"} if picture else {}),
    }
