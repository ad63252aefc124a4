"""Acts that a test of a search leads to and that no other page has."""

from __future__ import annotations

from app.domain.catalogue.products import product_of
from app.domain.search.index import outbox
from app.extensions import db


def index_again(site_id: int, product_id: int) -> str:
    """Wish a product into the index once more, as it is; its name. Raises NotFound."""
    product = product_of(site_id, product_id)
    outbox.enqueue(db.session, site_id, outbox.PRODUCT, [product.id])
    return product.name
