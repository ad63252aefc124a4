"""A site's taxonomies as a list, with what each is used for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select

from app.domain.catalogue.models import Product
from app.domain.taxonomy.levels.stored_levels import made_once
from app.domain.taxonomy.models import Taxonomy
from app.domain.taxonomy.products.classification import has_engine
from app.domain.taxonomy.products.worklist import incomplete_products
from app.domain.taxonomy.taxonomies import active_id
from app.extensions import db


@dataclass(frozen=True, slots=True)
class TaxonomyRow:
    """A taxonomy in the list. `products` is the number of products with a level, which only the active taxonomy has.
    `revision` counts the writes, from 1."""

    id: str
    name: str
    description: str
    is_active: bool
    levels: int
    products: int
    revision: int
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class TaxonomyList:
    """The taxonomies of a site. `has_engine`: the plan of the shop includes the engine, without which the shop uses no
    taxonomy. `lost_id` is the id that is set as the active one while there is no such taxonomy. `incomplete` products
    lack mandatory values."""

    rows: list[TaxonomyRow]
    has_engine: bool
    lost_id: str | None
    incomplete: int

    @property
    def active(self) -> TaxonomyRow | None:
        return next((row for row in self.rows if row.is_active), None)


def taxonomy_list(site_id: int) -> TaxonomyList:
    rows, active = list_taxonomies(site_id), active_id(site_id)
    lost = None if any(row.is_active for row in rows) else active
    return TaxonomyList(rows, has_engine(site_id), lost, incomplete_products(site_id))


def list_taxonomies(site_id: int) -> list[TaxonomyRow]:
    """Return the taxonomies of a site, the active one first, then by name."""
    active = active_id(site_id)
    found = db.session.scalars(select(Taxonomy).where(Taxonomy.site_id == site_id)).all()
    with_level = select(func.count()).where(Product.site_id == site_id, Product.taxonomy_level_id.is_not(None))
    classified = (db.session.scalar(with_level) or 0) if active is not None else 0
    rows = [_row(taxonomy, taxonomy.id == active, classified) for taxonomy in found]
    return sorted(rows, key=lambda row: (not row.is_active, row.name.casefold(), row.id))


def _row(taxonomy: Taxonomy, is_active: bool, classified: int) -> TaxonomyRow:
    return TaxonomyRow(
        id=taxonomy.id,
        name=taxonomy.name,
        description=taxonomy.description,
        is_active=is_active,
        levels=count_levels(taxonomy.root_levels),
        products=classified if is_active else 0,
        revision=taxonomy.revision,
        updated_at=taxonomy.updated_at,
    )


@made_once
def count_levels(root_levels: Sequence[Mapping[str, Any]]) -> int:
    return sum(1 + count_levels(level.get("children") or ()) for level in root_levels)
