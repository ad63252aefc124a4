"""Products of levels that are called otherwise than before: the index holds the names of a product's level."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import select

from app.domain.catalogue.models import Product
from app.domain.search.index.outbox import PRODUCT, enqueue
from app.extensions import db


def enqueue_products_of_levels(site_id: int, level_ids: Collection[str]) -> None:
    """Enqueue the products of the levels themselves; those of levels below are named by their own."""
    if level_ids:
        of_levels = select(Product.id).where(Product.site_id == site_id, Product.taxonomy_level_id.in_(level_ids))
        enqueue(db.session, site_id, PRODUCT, db.session.scalars(of_levels))
