"""What a list of products asks about levels and values, as conditions of a query."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlalchemy import ColumnElement, Select, exists, select

from app.domain.catalogue import queries
from app.domain.catalogue.listing import Completeness, ProductList
from app.domain.catalogue.models import Product, ProductAttributeValue
from app.domain.taxonomy.classification import LONGEST_COUNTED_VALUE
from app.domain.taxonomy.tree import TaxonomyTree


def matching_ids(site_id: int, asked: ProductList, tree: TaxonomyTree) -> Select[int]:
    """The ids of all products that a list is narrowed to, in any order. `tree` is the active taxonomy."""
    return queries.matching_ids(site_id, asked, conditions(site_id, asked, tree))


def conditions(site_id: int, asked: ProductList, tree: TaxonomyTree) -> list[ColumnElement[bool]]:
    """An unknown level or attribute finds nothing."""
    return list(_conditions(site_id, asked, tree))


def _conditions(site_id: int, asked: ProductList, tree: TaxonomyTree) -> Iterator[ColumnElement[bool]]:
    if asked.level_id:
        yield Product.taxonomy_level_id.in_(tree.below(asked.level_id))
    if asked.completeness is not Completeness.ALL:
        yield from _by_completeness(asked.completeness, tree)
    if asked.missing:
        yield Product.taxonomy_level_id.in_(levels_with(tree, asked.missing))
        yield ~exists().where(
            ProductAttributeValue.product_id == Product.id, ProductAttributeValue.attribute_id == asked.missing
        )
    if asked.attribute:
        yield Product.id.in_(_holding(site_id, asked.attribute, asked.value))


def _by_completeness(wanted: Completeness, tree: TaxonomyTree) -> Iterable[ColumnElement[bool]]:
    conditions: dict[Completeness, tuple[ColumnElement[bool], ...]] = {
        Completeness.COMPLETE: (Product.completeness_score == 100,),
        Completeness.INCOMPLETE: (Product.completeness_score < 100,),
        Completeness.UNCLASSIFIED: (Product.taxonomy_level_id.is_(None),),
        Completeness.GONE: (Product.taxonomy_level_id.is_not(None), Product.taxonomy_level_id.not_in(tree.levels)),
    }
    return conditions[wanted]


def levels_with(tree: TaxonomyTree, attribute_id: str) -> list[str]:
    """The levels at which an attribute holds, their own or inherited."""
    return [level_id for level_id in tree.levels if attribute_id in tree.applicable_attributes(level_id)]


def _holding(site_id: int, attribute_id: str, value: str) -> Select[int]:
    """An empty value is any."""
    held = select(ProductAttributeValue.product_id).where(
        ProductAttributeValue.site_id == site_id, ProductAttributeValue.attribute_id == attribute_id
    )
    return held.where(ProductAttributeValue.value == value[:LONGEST_COUNTED_VALUE]) if value else held
