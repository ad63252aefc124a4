"""How many products stand at each level of the active taxonomy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import func, select

from app.domain.catalogue.models import Product
from app.domain.taxonomy.levels.tree import Level, TaxonomyTree
from app.domain.taxonomy.models import Taxonomy
from app.domain.taxonomy.products.classification import active_taxonomy
from app.domain.taxonomy.taxonomies import is_active
from app.extensions import db


@dataclass(frozen=True, slots=True)
class LevelCount:
    """Products at the level itself, and at it and all levels below it."""

    direct: int = 0
    rolled_up: int = 0


def level_counts(site_id: int, taxonomy: Taxonomy) -> dict[str, LevelCount]:
    """For every level of the stored tree, by id; empty unless the taxonomy is the active one. One statement reads
    the counts, whatever the size of the tree."""
    if not is_active(taxonomy):
        return {}
    return rolled_up(TaxonomyTree.parse(taxonomy.root_levels), products_by_level(site_id))


def rolled_up(tree: TaxonomyTree, direct: Mapping[str, int]) -> dict[str, LevelCount]:
    """`direct` holds products by level id; what stands at no level of the tree is left out."""
    counts: dict[str, LevelCount] = {}

    def count(level: Level) -> int:
        here = direct.get(level.id, 0)
        total = here + sum(count(child) for child in level.children)
        counts[level.id] = LevelCount(here, total)
        return total

    for root in tree.roots:
        count(root)
    return counts


def products_by_level(site_id: int) -> dict[str, int]:
    """Products by the id of the level that they name, whether or not it exists."""
    level_id = Product.taxonomy_level_id
    query = select(level_id, func.count()).where(Product.site_id == site_id, level_id.is_not(None))
    return {level: number for level, number in db.session.execute(query.group_by(level_id)) if level is not None}


def orphaned(site_id: int) -> int:
    """Products whose level the active taxonomy no longer has; 0 while none is active."""
    taxonomy = active_taxonomy(site_id)
    if taxonomy is None:
        return 0
    tree = TaxonomyTree.parse(taxonomy.root_levels)
    return sum(number for level_id, number in products_by_level(site_id).items() if level_id not in tree.levels)
