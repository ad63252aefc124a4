"""Numbers of products whose classification can be restored: it was archived when another taxonomy became active."""

from __future__ import annotations

from sqlalchemy import func, select

from app.domain.catalogue.models import Product
from app.domain.taxonomy.levels.tree import TaxonomyTree
from app.domain.taxonomy.products.classification import active_taxonomy
from app.extensions import db


def restorable_products(site_id: int) -> int:
    """Return the number of products without a level whose archived level the active taxonomy has."""
    waiting = (
        Product.site_id == site_id,
        Product.taxonomy_level_id.is_(None),
        Product.archived_taxonomy_data.is_not(None),
    )
    level_id = Product.archived_taxonomy_data["levelId"].as_string()
    found = db.session.execute(select(level_id, func.count()).where(*waiting).group_by(level_id)).all()
    taxonomy = active_taxonomy(site_id) if found else None
    if taxonomy is None:
        return 0
    levels = TaxonomyTree.parse(taxonomy.root_levels).levels
    return sum(products for archived, products in found if archived in levels)
