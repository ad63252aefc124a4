"""Place products in categories by hand. Call the functions within a transaction. They lock the category, then the
product, as the editor of a category does."""

from __future__ import annotations

from sqlalchemy import func, select

from app.domain.catalogue.products import product_of
from app.domain.merchandising.models import Node, Placement
from app.domain.merchandising.nodes import mark_changed
from app.domain.shared.author import Author
from app.domain.shared.problems import Invalid
from app.domain.shared.records import find_record
from app.domain.sites import audit
from app.extensions import db

MOST_CATEGORIES = 50


def add(author: Author, product_id: int, node_id: int | None) -> None:
    """Place a product at the end of a category's own order; one that is there already stays where it is.
    Raises NotFound, Invalid."""
    node = None if node_id is None else find_record(Node, author.site_id, node_id, to_change=True)
    product = product_of(author.site_id, product_id, to_change=True)
    if node_id is None:
        raise Invalid.one("no_category", "Choose a category first.", "#/category")
    placed = _placements(author.site_id, product_id)
    if node_id in placed:
        return
    if len(placed) >= MOST_CATEGORIES:
        raise Invalid.one("too_many", f"A product is placed in at most {MOST_CATEGORIES} categories.", "#/category")
    if node is None:
        raise Invalid.one("unknown_category", "This category no longer exists. Reload the page.", "#/category")
    last = db.session.scalar(select(func.max(Placement.position)).where(Placement.node_id == node_id))
    position = 0 if last is None else last + 1
    db.session.add(Placement(site_id=author.site_id, node_id=node_id, product_id=product_id, position=position))
    mark_changed(author, node)
    summary = f"Placed {product.name} in {node.name}"
    audit.record(author, "product.place", ("product", str(product_id)), summary)


def remove(author: Author, product_id: int, node_id: int) -> None:
    """Take a product out of a category; nothing happens when it is not placed there. Raises NotFound."""
    node = find_record(Node, author.site_id, node_id, to_change=True)
    product = product_of(author.site_id, product_id, to_change=True)
    placement = _placements(author.site_id, product_id).get(node_id)
    if node is None or placement is None:
        return
    db.session.delete(placement)
    mark_changed(author, node)
    summary = f"Took {product.name} out of {node.name}"
    audit.record(author, "product.unplace", ("product", str(product_id)), summary)


def _placements(site_id: int, product_id: int) -> dict[int, Placement]:
    query = select(Placement).where(Placement.site_id == site_id, Placement.product_id == product_id)
    return {placement.node_id: placement for placement in db.session.scalars(query)}
