"""Filters of a list of products by levels and values, as conditions of a query."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlalchemy import ColumnElement, Select, func, or_, select

from app.domain.catalogue import queries
from app.domain.catalogue.listing import Completeness, ProductList
from app.domain.catalogue.models import Product, ProductAttributeValue
from app.domain.taxonomy.levels.tree import TaxonomyTree
from app.domain.taxonomy.products.classification import LONGEST_COUNTED_VALUE
from app.domain.taxonomy.products.missing_values import misses_value


def matching_ids(site_id: int, filters: ProductList, tree: TaxonomyTree) -> Select[int]:
    """Return the query of the ids of all products in a filtered list, in any order. `tree` is the active taxonomy."""
    return queries.matching_ids(site_id, filters, conditions(site_id, filters, tree))


def conditions(site_id: int, filters: ProductList, tree: TaxonomyTree) -> list[ColumnElement[bool]]:
    """Return the conditions of a product list. An unknown level or attribute finds nothing. The filter for products
    that lack an attribute costs one statement."""
    return list(_conditions(site_id, filters, tree))


def _conditions(site_id: int, filters: ProductList, tree: TaxonomyTree) -> Iterator[ColumnElement[bool]]:
    if filters.level_id:
        yield Product.taxonomy_level_id.in_(tree.below(filters.level_id))
    if filters.completeness is not Completeness.ALL:
        yield from _by_completeness(filters.completeness, tree)
    if filters.missing:
        yield misses_value(site_id, filters.missing, tree)
    if filters.attribute:
        yield Product.id.in_(_holding(site_id, filters.attribute, filters.value, tree))


def _by_completeness(wanted: Completeness, tree: TaxonomyTree) -> Iterable[ColumnElement[bool]]:
    conditions: dict[Completeness, tuple[ColumnElement[bool], ...]] = {
        Completeness.COMPLETE: (Product.completeness_score == 100,),
        Completeness.INCOMPLETE: (Product.completeness_score < 100,),
        Completeness.UNCLASSIFIED: (Product.taxonomy_level_id.is_(None),),
        Completeness.GONE: (Product.taxonomy_level_id.is_not(None), Product.taxonomy_level_id.not_in(tree.levels)),
    }
    return conditions[wanted]


def _holding(site_id: int, attribute_id: str, value: str, tree: TaxonomyTree) -> Select[int]:
    """Return the query of the ids of products that hold a value of an attribute, any value for an empty one. Case does
    not matter: where the database cannot ignore it, the allowed value's own spelling is searched for."""
    held = select(ProductAttributeValue.product_id).where(
        ProductAttributeValue.site_id == site_id, ProductAttributeValue.attribute_id == attribute_id
    )
    if not value:
        return held
    definitions = tree.attributes_by_id().get(attribute_id, ())
    spelled = {value, *filter(None, (definition.choice(value) for definition in definitions))}
    texts = {text[:LONGEST_COUNTED_VALUE] for text in spelled}
    lower = func.lower(ProductAttributeValue.value) == value[:LONGEST_COUNTED_VALUE].lower()
    return held.where(or_(ProductAttributeValue.value.in_(sorted(texts)), lower))
