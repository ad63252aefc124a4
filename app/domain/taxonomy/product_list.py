"""The admin's list of products, which can be narrowed by what the active taxonomy says about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.domain.catalogue import queries
from app.domain.catalogue.listing import ProductList
from app.domain.catalogue.queries import ProductRow
from app.domain.shared.paging import Paged
from app.domain.sites.currency import currency_of
from app.domain.taxonomy.classification import active_tree
from app.domain.taxonomy.models import TaxonomyTask
from app.domain.taxonomy.product_filters import conditions
from app.domain.taxonomy.tasks import unfinished
from app.domain.taxonomy.tree import Level, TaxonomyTree


@dataclass(frozen=True, slots=True)
class LevelChoice:
    id: str
    name: str
    depth: int


@dataclass(frozen=True, slots=True)
class AttributeChoice:
    """`name` tells attributes of the same name apart; `mandatory` says whether it is so on any level."""

    id: str
    name: str
    mandatory: bool


@dataclass(frozen=True, slots=True)
class ProductListPage:
    """`level_names` gives the names of the levels by id; without an active taxonomy there are none, nor attributes.
    `task` is what goes on in the background, or comes next."""

    asked: ProductList
    found: Paged[ProductRow]
    currency: str
    levels: Sequence[LevelChoice]
    attributes: Sequence[AttributeChoice]
    level_names: Mapping[str, str]
    task: TaxonomyTask | None


def product_list(site_id: int, asked: ProductList) -> ProductListPage:
    """An unknown level or attribute finds nothing."""
    taxonomy = active_tree(site_id)
    return ProductListPage(
        asked=asked,
        found=queries.products(site_id, asked, conditions(site_id, asked, taxonomy)),
        currency=currency_of(site_id),
        levels=level_choices(taxonomy),
        attributes=attribute_choices(taxonomy),
        task=next(iter(unfinished(site_id)), None),
        level_names={level.id: level.name for level in taxonomy.levels.values()},
    )


def level_choices(taxonomy: TaxonomyTree) -> list[LevelChoice]:
    """In tree order."""
    return [LevelChoice(level.id, level.name, _depth(taxonomy, level)) for level in taxonomy.levels.values()]


def attribute_choices(taxonomy: TaxonomyTree) -> list[AttributeChoice]:
    """Every attribute once, by name."""
    by_id = taxonomy.attributes_by_id()
    times = Counter(definitions[0].name for definitions in by_id.values())
    choices = []
    for attribute_id, definitions in by_id.items():
        name = definitions[0].name
        told = name if times[name] == 1 else f"{name} ({attribute_id})"
        choices.append(AttributeChoice(attribute_id, told, any(definition.mandatory for definition in definitions)))
    return sorted(choices, key=lambda choice: (choice.name.casefold(), choice.id))


def _depth(taxonomy: TaxonomyTree, level: Level) -> int:
    """0 for a root."""
    return len(taxonomy.path(level.id)) - 1
