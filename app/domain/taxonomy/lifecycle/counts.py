"""Numbers of products at each level of the active taxonomy."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import func, select

from app.domain.catalogue.models import Product
from app.domain.taxonomy.levels.tree import TaxonomyTree
from app.domain.taxonomy.models import Taxonomy
from app.domain.taxonomy.taxonomies import is_active
from app.extensions import db

FEW_LEVELS = 500  # Of more, one walk through all products takes no longer than a look-up for each level.


@dataclass(frozen=True, slots=True)
class LevelCount:
    """Products at the level itself, and at it and all levels below it."""

    direct: int = 0
    rolled_up: int = 0


def level_counts(site_id: int, taxonomy: Taxonomy) -> dict[str, LevelCount]:
    """Return the counts for every level of the stored tree, by id; empty unless the taxonomy is the active one. One
    statement reads the counts, whatever the size of the tree."""
    if not is_active(taxonomy):
        return {}
    direct = products_by_level(site_id)
    totals = TaxonomyTree.parse(taxonomy.root_levels).rolled_up(direct)
    return {level_id: LevelCount(direct.get(level_id, 0), total) for level_id, total in totals.items()}


def products_by_level(site_id: int, level_ids: Collection[str] | None = None) -> dict[str, int]:
    """Return the number of products by the id of the level that they name, whether or not it exists. `level_ids` are
    the only levels that the caller needs; others are left out where that is quicker."""
    level_id = Product.taxonomy_level_id
    query = select(level_id, func.count()).where(Product.site_id == site_id, level_id.is_not(None))
    if level_ids is not None and len(level_ids) <= FEW_LEVELS:
        query = query.where(level_id.in_(sorted(level_ids)))
    return {level: number for level, number in db.session.execute(query.group_by(level_id)) if level is not None}
