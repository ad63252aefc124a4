"""The products that other parts of a bundle name by SKU."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select

from app.domain.bundles.task import NO_SITE, ImportTask
from app.domain.catalogue.models import Product
from app.extensions import db

AT_ONCE = 500


def ids_by_sku(task: ImportTask, skus: Sequence[str]) -> dict[str, int]:
    """Return the ids of products by SKU; in a dry run also of the products that it would add, with an id that no record
    has."""
    found: dict[str, int] = {}
    for start in range(0, len(skus), AT_ONCE):
        part = skus[start : start + AT_ONCE]
        query = select(Product.sku, Product.id).where(Product.site_id == task.site_id, Product.sku.in_(part))
        found.update(db.session.execute(query).all())
    if task.dry_run:
        found.update({sku: NO_SITE for sku in skus if sku not in found and sku in task.skus})
    return found
