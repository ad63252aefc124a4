"""Products that miss an attribute, as completeness counts it: they hold no value of it that its definition takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlalchemy import ColumnElement, and_, exists, false, or_, select
from sqlalchemy.orm import aliased

from app.domain.catalogue.models import Product, ProductAttributeValue
from app.domain.taxonomy.levels.attribute import Attribute, AttributeType
from app.domain.taxonomy.levels.tree import TaxonomyTree
from app.domain.taxonomy.levels.values import check_values
from app.domain.taxonomy.products.classification import LONGEST_COUNTED_VALUE
from app.extensions import db

FEW_DEFINITIONS = 50  # That refuse anything; each is a condition of its own.
MOST_PARAMETERS = 10_000  # Levels and values in one statement.
Definitions = Mapping[str, Attribute]  # By the id of a level, the definition of one attribute that holds there.
Refused = Mapping[frozenset[str], list[str]]  # By values that are not taken, the levels at which they are not.


def misses_value(site_id: int, attribute_id: str, tree: TaxonomyTree) -> ColumnElement[bool]:
    """Return the condition that a product misses an attribute. One statement reads which values are held at all. Where
    many definitions refuse some, another one reads at which levels those are held; it takes time by the number of
    products. Should that still be more than a statement can name, products with refused values are left out."""
    definitions = definitions_of(tree, attribute_id)
    held = ProductAttributeValue
    any_value = exists().where(held.product_id == Product.id, held.attribute_id == attribute_id)
    missing = [~any_value, _several_for_one(attribute_id, definitions)]
    for texts, level_ids in _refused(site_id, attribute_id, definitions).items():
        taken = any_value.where(held.value.not_in(sorted(texts)))
        missing.append(and_(Product.taxonomy_level_id.in_(level_ids), ~taken))
    return and_(Product.taxonomy_level_id.in_(definitions), or_(*missing))


def definitions_of(tree: TaxonomyTree, attribute_id: str) -> dict[str, Attribute]:
    """The levels at which an attribute holds, their own or inherited, with the definition that counts there."""
    found = {level_id: tree.applicable_attributes(level_id).get(attribute_id) for level_id in tree.levels}
    return {level_id: definition for level_id, definition in found.items() if definition is not None}


def _refused(site_id: int, attribute_id: str, definitions: Definitions) -> Refused:
    held = ProductAttributeValue
    of_attribute = (held.site_id == site_id, held.attribute_id == attribute_id)
    texts = db.session.scalars(select(held.value).where(*of_attribute).distinct()).all()
    by_definition = {id(one): frozenset(_not_taken(one, texts)) for one in definitions.values()}
    found = _by_values({at: by_definition[id(one)] for at, one in definitions.items()})
    if _is_small(found):
        return found
    level_id = Product.taxonomy_level_id
    query = select(level_id, held.value).join_from(held, Product).where(*of_attribute, level_id.is_not(None))
    at_levels: dict[str, set[str]] = {}
    for at, text in db.session.execute(query.distinct()):
        if at is not None and at in definitions and text in by_definition[id(definitions[at])]:
            at_levels.setdefault(at, set()).add(text)
    found = _by_values({at: frozenset(refused) for at, refused in at_levels.items()})
    return found if _is_small(found) else {}


def _by_values(refused: Mapping[str, frozenset[str]]) -> Refused:
    found: dict[frozenset[str], list[str]] = {}
    for level_id, texts in refused.items():
        if texts:
            found.setdefault(texts, []).append(level_id)
    return found


def _is_small(refused: Refused) -> bool:
    parameters = sum(len(texts) + len(level_ids) for texts, level_ids in refused.items())
    return len(refused) <= FEW_DEFINITIONS and parameters <= MOST_PARAMETERS


def _not_taken(definition: Attribute, texts: Iterable[str]) -> list[str]:
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
