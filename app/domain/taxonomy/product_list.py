"""The admin's list of products, which can be narrowed by what the active taxonomy says about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.domain.catalogue import queries
from app.domain.catalogue.listing import ProductList
from app.domain.catalogue.queries import ProductRow
from app.domain.shared.paging import Paged
from app.domain.sites.sites import currency_of
from app.domain.taxonomy.choices import (
    AttributeChoices,
    attribute_choices,
    governing_definitions,
    value_choices,
)
from app.domain.taxonomy.models import TaxonomyTask
from app.domain.taxonomy.products.queries import conditions
from app.domain.taxonomy.tasks import unfinished
from app.domain.taxonomy.taxonomies import active_tree
from app.domain.taxonomy.tree import TaxonomyTree


@dataclass(frozen=True, slots=True)
class LevelChoice:
    """A level to choose. `depth` is 0 for a root."""

    id: str
    name: str
    depth: int


@dataclass(frozen=True, slots=True)
class ProductListPage:
    """A page of the list of products. `level_names` gives the names of the levels by id; without an active taxonomy
    there are none, nor attributes. `values` are the choices of the requested attribute, each as products hold it and as
    it is shown; empty where any value is allowed. `task` is the site's first unfinished task."""

    filters: ProductList
    found: Paged[ProductRow]
    currency: str
    levels: Sequence[LevelChoice]
    attributes: AttributeChoices
    values: Sequence[tuple[str, str]]
    level_names: Mapping[str, str]
    task: TaxonomyTask | None


def product_list(site_id: int, filters: ProductList) -> ProductListPage:
    """Return a page of the list of products. An unknown level or attribute finds nothing."""
    taxonomy = active_tree(site_id)
    level_ids = taxonomy.below(filters.level_id) or None
    return ProductListPage(
        filters=filters,
        found=queries.list_products(site_id, filters, conditions(site_id, filters, taxonomy)),
        currency=currency_of(site_id),
        levels=level_choices(taxonomy),
        attributes=attribute_choices(taxonomy, level_ids),
        values=value_choices(governing_definitions(taxonomy, filters.attribute, level_ids))
        if filters.attribute
        else (),
        task=next(iter(unfinished(site_id)), None),
        level_names={level.id: level.name for level in taxonomy.levels.values()},
    )


def level_choices(taxonomy: TaxonomyTree) -> list[LevelChoice]:
    """Return the levels to choose from in tree order."""
    return [LevelChoice(level.id, level.name, len(taxonomy.path(level.id)) - 1) for level in taxonomy.levels.values()]
