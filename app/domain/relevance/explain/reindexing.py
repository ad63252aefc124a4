"""Index one product again."""

from __future__ import annotations

from app.domain.catalogue.products import product_of
from app.domain.search.index import outbox
from app.extensions import db


def reindex_product(site_id: int, product_id: int) -> str:
    """Put the product into the outbox as it is and return its name. Raises NotFound."""
    product = product_of(site_id, product_id)
    outbox.enqueue(db.session, site_id, outbox.PRODUCT, [product.id])
    return product.name
