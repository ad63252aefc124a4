"""Reindexing of products whose level, or one above it, gets other names: the index holds the names of all of them."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import select

from app.domain.catalogue.models import Product
from app.domain.search.index.outbox import PRODUCT, enqueue
from app.domain.taxonomy.taxonomies import active_tree
from app.extensions import db


def enqueue_products_of_levels(site_id: int, level_ids: Collection[str]) -> None:
    """Enqueue the products of the levels and of all below them."""
    if level_ids:
        tree = active_tree(site_id)
        named = {id for level_id in level_ids for id in (level_id, *tree.below(level_id))}
        of_levels = select(Product.id).where(Product.site_id == site_id, Product.taxonomy_level_id.in_(named))
        enqueue(db.session, site_id, PRODUCT, db.session.scalars(of_levels))
