"""The number of products that each category shows, for the taxonomy as it is or as it might be."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import func, select

from app.domain.catalogue.models import Product
from app.domain.merchandising.models import Placement
from app.domain.merchandising.tree import ShopTree
from app.domain.taxonomy.tree import TaxonomyTree
from app.extensions import db


@dataclass(frozen=True, slots=True)
class ProductGroup:
    """Products that every category takes alike: of one level and manufacturer, placed by hand in the same ones."""

    level_id: str
    manufacturer: str
    placed_in: tuple[int, ...]
    products: int


def product_groups(site_id: int) -> list[ProductGroup]:
    """Return the products that shoppers see as groups, in two statements."""
    return [*_placed(site_id), *_unplaced(site_id)]


def count_by_maker(groups: list[ProductGroup], tree: ShopTree, taxonomy: TaxonomyTree) -> Counter[tuple[int, str]]:
    """Return the number of products by the id of the category and the manufacturer; a level that the taxonomy lacks
    counts as none."""
    counted: Counter[tuple[int, str]] = Counter()
    for group in groups:
        path = taxonomy.path_ids(group.level_id)
        for node_id in tree.categories_of(path, group.manufacturer, group.placed_in):
            counted[node_id, group.manufacturer] += group.products
    return counted


def count_by_category(by_maker: Counter[tuple[int, str]]) -> Counter[int]:
    """Return the number of products by the id of the category."""
    counted: Counter[int] = Counter()
    for (node_id, _), products in by_maker.items():
        counted[node_id] += products
    return counted


def _unplaced(site_id: int) -> Iterator[ProductGroup]:
    level_id, manufacturer = Product.taxonomy_level_id, Product.manufacturer
    placed = select(Placement.product_id).where(Placement.site_id == site_id)
    query = select(level_id, manufacturer, func.count()).where(Product.site_id == site_id, Product.enabled)
    query = query.where(Product.id.not_in(placed)).group_by(level_id, manufacturer)
    for level, maker, products in db.session.execute(query):
        yield ProductGroup(level or "", maker, (), products)


def _placed(site_id: int) -> Iterator[ProductGroup]:
    query = select(Placement.product_id, Placement.node_id, Product.taxonomy_level_id, Product.manufacturer)
    query = query.join(Product, Product.id == Placement.product_id)
    places: defaultdict[tuple[int, str, str], list[int]] = defaultdict(list)
    for product_id, node_id, level, maker in db.session.execute(
        query.where(Placement.site_id == site_id, Product.enabled)
    ):
        places[product_id, level or "", maker].append(node_id)
    for (_, level_id, manufacturer), node_ids in places.items():
        yield ProductGroup(level_id, manufacturer, tuple(node_ids), 1)
