"""The ids by which products go, so that no new level or attribute takes one over with the products of another."""

from __future__ import annotations

from collections.abc import Collection

from app.domain.taxonomy.levels.tree import TaxonomyTree
from app.domain.taxonomy.life.counts import products_by_level
from app.domain.taxonomy.models import Taxonomy
from app.domain.taxonomy.taxonomies import is_active


def ids_in_use(taxonomy: Taxonomy) -> dict[str, Collection[str]]:
    """By the ids of the stored levels, and of those that are gone and that products name still, the ids of the
    attributes of which products there may hold values. One statement."""
    tree = TaxonomyTree.parse(taxonomy.root_levels)
    named = products_by_level(taxonomy.site_id) if is_active(taxonomy) else {}
    return dict.fromkeys(named, ()) | {
        level_id: tree.applicable_attributes(level_id).keys() for level_id in tree.levels
    }
