"""The products that a save of the taxonomy concerns, and how the index gets to know.

A product's document names its level and all above it, and holds the values of the attributes that apply there. Names of
levels are brought by outbox.enqueue_products_of_levels, values that were renamed by the products' own changes; a level
that is added, removed or moved, and an attribute that comes, goes or gets another type, are brought by a rebuild, or by
the outbox where that is less work.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import ColumnElement, func, or_, select, update

from app.domain.catalogue.models import Product, ProductAttributeValue
from app.domain.search.document_ids import PRODUCT
from app.domain.search.engine import IndexName
from app.domain.search.index.documents import count_of
from app.domain.search.index.outbox import enqueue
from app.domain.search.index.rebuild_outcomes import SOON
from app.domain.taxonomy.models import Taxonomy
from app.domain.taxonomy.taxonomies import active_id, active_tree
from app.extensions import db

SHARE = 10  # Of a large shop a tenth of the products must change.


def is_worth_a_rebuild(concerned: int, products: int) -> bool:
    """Whether a rebuild is the better way to bring a change that concerns so many of a shop's products."""
    return products <= SOON or concerned > products // SHARE


def bring_changes(
    site_id: int, saved_at: datetime, level_ids: Collection[str] | None, attribute_ids: Collection[str] | None
) -> None:
    """Bring what a save of the active taxonomy changed into the index: mark that a rebuild is needed, or enqueue the
    products that are concerned. The levels were added, removed or moved; the attributes came, went, or have another
    type; None where it is unknown which. May be called twice for a save. Call it in a transaction."""
    if level_ids is None or attribute_ids is None:
        mark_needed(site_id, saved_at)
        return
    if not level_ids and not attribute_ids:
        return
    concerned = _is_concerned(site_id, level_ids, attribute_ids)
    number = db.session.scalar(select(func.count(Product.id)).where(concerned)) or 0
    if is_worth_a_rebuild(number, count_of(site_id, IndexName.PRODUCTS)):
        mark_needed(site_id, saved_at)
    else:
        enqueue(db.session, site_id, PRODUCT, db.session.scalars(select(Product.id).where(concerned)))


def _is_concerned(site_id: int, level_ids: Collection[str], attribute_ids: Collection[str]) -> ColumnElement[bool]:
    tree = active_tree(site_id)
    named = {id for level_id in level_ids for id in (level_id, *tree.below(level_id))}
    holding = select(ProductAttributeValue.product_id).where(
        ProductAttributeValue.site_id == site_id, ProductAttributeValue.attribute_id.in_(attribute_ids)
    )
    return (Product.site_id == site_id) & or_(Product.taxonomy_level_id.in_(named), Product.id.in_(holding))


def mark_needed(site_id: int, moment: datetime) -> None:
    """Note that the index needs a rebuild that begins after a moment, that of a save of the active taxonomy."""
    _write_need(site_id, moment, or_(Taxonomy.rebuild_needed_at.is_(None), Taxonomy.rebuild_needed_at < moment))


def lower_need(site_id: int, now: datetime) -> None:
    """Lower a need that a clock ahead of this one noted to now: its save is stored."""
    _write_need(site_id, now, Taxonomy.rebuild_needed_at > now)


def _write_need(site_id: int, moment: datetime, condition: ColumnElement[bool]) -> None:
    active = (Taxonomy.site_id == site_id) & (Taxonomy.id == active_id(site_id))
    db.session.execute(update(Taxonomy).where(active, condition).values(rebuild_needed_at=moment))
