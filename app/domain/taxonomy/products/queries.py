"""Queries of products by levels and values.

The filters of a product list as conditions, the products that miss an attribute, and the numbers at each level. An
attribute is missed as completeness counts it: by a product that holds no value of it that its definition takes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Select, and_, exists, false, func, or_, select
from sqlalchemy.orm import aliased

from app.domain.catalogue import queries
from app.domain.catalogue.listing import Completeness, ProductList
from app.domain.catalogue.models import Product, ProductAttributeValue
from app.domain.shared.records import distinct_values
from app.domain.taxonomy.models import Taxonomy
from app.domain.taxonomy.products.classification import LONGEST_COUNTED_VALUE
from app.domain.taxonomy.taxonomies import is_active
from app.domain.taxonomy.tree import Attribute, AttributeType, TaxonomyTree
from app.domain.taxonomy.values import check_values
from app.extensions import db

FEW_DEFINITIONS = 50  # That refuse anything; each is a condition of its own.
MOST_PARAMETERS = 10_000  # Levels and values in one statement.
Definitions = Mapping[str, Attribute]  # By the id of a level, the definition of one attribute that holds there.
RefusedValues = Mapping[frozenset[str], list[str]]  # By values that are not taken, the levels at which they are not.
FEW_LEVELS = 500  # Of more, one walk through all products takes no longer than a look-up for each level.


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
        yield from _by_completeness(site_id, filters.completeness, tree)
    if filters.missing:
        yield misses_value(site_id, filters.missing, tree)
    if filters.attribute:
        yield Product.id.in_(_ids_holding(site_id, filters.attribute, filters.value, tree))


def _by_completeness(site_id: int, wanted: Completeness, tree: TaxonomyTree) -> Iterable[ColumnElement[bool]]:
    if wanted is Completeness.GONE:
        return (Product.taxonomy_level_id.in_(_levels_gone(site_id, tree)),)
    conditions: dict[Completeness, tuple[ColumnElement[bool], ...]] = {
        Completeness.COMPLETE: (Product.completeness_score == 100,),
        Completeness.INCOMPLETE: (Product.completeness_score < 100,),
        Completeness.UNCLASSIFIED: (Product.taxonomy_level_id.is_(None),),
    }
    return conditions[wanted]


def _levels_gone(site_id: int, tree: TaxonomyTree) -> list[str]:
    """Return the levels that products of the site name and the taxonomy does not have."""
    named = db.session.scalars(distinct_values(Product.taxonomy_level_id, Product.site_id == site_id))
    return [level_id for level_id in named if level_id is not None and level_id not in tree.levels]


def _ids_holding(site_id: int, attribute_id: str, value: str, tree: TaxonomyTree) -> Select[int]:
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


def misses_value(site_id: int, attribute_id: str, tree: TaxonomyTree) -> ColumnElement[bool]:
    """Return the condition that a product misses an attribute. One statement reads which values are held at all. Where
    many definitions refuse some, another one reads at which levels those are held; it takes time by the number of
    products. Should that still be more than a statement can name, products with refused values are left out."""
    definitions = definitions_of(tree, attribute_id)
    held = ProductAttributeValue
    any_value = exists().where(held.product_id == Product.id, held.attribute_id == attribute_id)
    missing = [~any_value, _several_for_one(attribute_id, definitions)]
    for texts, level_ids in _refused_values(site_id, attribute_id, definitions).items():
        taken = any_value.where(held.value.not_in(sorted(texts)))
        missing.append(and_(Product.taxonomy_level_id.in_(level_ids), ~taken))
    return and_(Product.taxonomy_level_id.in_(definitions), or_(*missing))


def definitions_of(tree: TaxonomyTree, attribute_id: str) -> dict[str, Attribute]:
    """The levels at which an attribute holds, their own or inherited, with the definition that counts there."""
    found = {level_id: tree.applicable_attributes(level_id).get(attribute_id) for level_id in tree.levels}
    return {level_id: definition for level_id, definition in found.items() if definition is not None}


def _refused_values(site_id: int, attribute_id: str, definitions: Definitions) -> RefusedValues:
    held = ProductAttributeValue
    of_attribute = (held.site_id == site_id, held.attribute_id == attribute_id)
    texts = db.session.scalars(distinct_values(held.value, *of_attribute)).all()
    by_definition = {id(one): frozenset(_texts_not_taken(one, texts)) for one in definitions.values()}
    found = _by_values({at: by_definition[id(one)] for at, one in definitions.items()})
    if _fits_in_statement(found):
        return found
    level_id = Product.taxonomy_level_id
    query = select(level_id, held.value).join_from(held, Product).where(*of_attribute, level_id.is_not(None))
    at_levels: dict[str, set[str]] = {}
    for at, text in db.session.execute(query.distinct()):
        if at is not None and at in definitions and text in by_definition[id(definitions[at])]:
            at_levels.setdefault(at, set()).add(text)
    found = _by_values({at: frozenset(refused) for at, refused in at_levels.items()})
    return found if _fits_in_statement(found) else {}


def _by_values(refused: Mapping[str, frozenset[str]]) -> RefusedValues:
    found: dict[frozenset[str], list[str]] = {}
    for level_id, texts in refused.items():
        if texts:
            found.setdefault(texts, []).append(level_id)
    return found


def _fits_in_statement(refused: RefusedValues) -> bool:
    parameters = sum(len(texts) + len(level_ids) for texts, level_ids in refused.items())
    return len(refused) <= FEW_DEFINITIONS and parameters <= MOST_PARAMETERS


def _texts_not_taken(definition: Attribute, texts: Iterable[str]) -> list[str]:
    spelled = {value.casefold() for value in definition.allowed_values}
    return [text for text in texts if text.casefold() not in spelled and not _takes(definition, text)]


def _takes(definition: Attribute, text: str) -> bool:
    """Whether a definition takes a text that is none of its allowed values; True for one that the index may hold only
    in part."""
    if definition.type.is_choice and not definition.former and "," not in text:
        return False  # As check_values would say, which is slow for very many.
    if len(text) == LONGEST_COUNTED_VALUE and not definition.type.is_choice:
        return True
    return bool(check_values({definition.id: definition}, {definition.id: text})[0])


def _several_for_one(attribute_id: str, definitions: Definitions) -> ColumnElement[bool]:
    """Return the condition that a product holds several values where its definition takes one: it was a multi-select
    before."""
    level_ids = [at for at, definition in definitions.items() if definition.type is not AttributeType.MULTI_SELECT]
    if not level_ids:
        return false()
    one, other = aliased(ProductAttributeValue), aliased(ProductAttributeValue)
    same = (one.product_id == Product.id, other.product_id == Product.id, one.value < other.value)
    two = exists().where(*same, one.attribute_id == attribute_id, other.attribute_id == attribute_id)
    return and_(Product.taxonomy_level_id.in_(level_ids), two)


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
    totals = taxonomy.tree.rolled_up(direct)
    return {level_id: LevelCount(direct.get(level_id, 0), total) for level_id, total in totals.items()}


def products_by_level(site_id: int, level_ids: Collection[str] | None = None) -> dict[str, int]:
    """Return the number of products by the id of the level that they name, whether or not it exists. `level_ids` are
    the only levels that the caller needs; others are left out where that is quicker."""
    level_id = Product.taxonomy_level_id
    query = select(level_id, func.count()).where(Product.site_id == site_id, level_id.is_not(None))
    if level_ids is not None and len(level_ids) <= FEW_LEVELS:
        query = query.where(level_id.in_(sorted(level_ids)))
    return {level: number for level, number in db.session.execute(query.group_by(level_id)) if level is not None}
