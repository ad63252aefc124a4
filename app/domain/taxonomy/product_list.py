"""The admin's list of products, which can be narrowed to a level of the taxonomy and those below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.domain.catalogue import queries
from app.domain.catalogue.listing import ProductList
from app.domain.catalogue.queries import ProductRow
from app.domain.shared.paging import Paged
from app.domain.sites.currency import currency_of
from app.domain.taxonomy.classification import active_tree
from app.domain.taxonomy.tree import Level, TaxonomyTree


@dataclass(frozen=True, slots=True)
class LevelChoice:
    id: str
    name: str
    depth: int


@dataclass(frozen=True, slots=True)
class ProductListPage:
    """`level_names` gives the names of the levels by id; without an active taxonomy there are none."""

    asked: ProductList
    found: Paged[ProductRow]
    currency: str
    levels: Sequence[LevelChoice]
    level_names: Mapping[str, str]


def product_list(site_id: int, asked: ProductList) -> ProductListPage:
    """An unknown level finds nothing."""
    taxonomy = active_tree(site_id)
    level_ids = taxonomy.below(asked.level_id) if asked.level_id else None
    return ProductListPage(
        asked=asked,
        found=queries.products(site_id, asked, level_ids),
        currency=currency_of(site_id),
        levels=[LevelChoice(level.id, level.name, _depth(taxonomy, level)) for level in taxonomy.levels.values()],
        level_names={level.id: level.name for level in taxonomy.levels.values()},
    )


def _depth(taxonomy: TaxonomyTree, level: Level) -> int:
    """0 for a root."""
    return len(taxonomy.path(level.id)) - 1
