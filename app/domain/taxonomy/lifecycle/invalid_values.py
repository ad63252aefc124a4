"""Values that products hold and that the new type or the new rules of their attribute do not allow, counted before
that is saved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import aliased

from app.domain.catalogue.models import Product, ProductAttributeValue
from app.domain.taxonomy.diff.data_loss import AttributeAt, DataLoss
from app.domain.taxonomy.levels.attribute import Attribute, AttributeType
from app.domain.taxonomy.levels.tree import TaxonomyTree
from app.domain.taxonomy.levels.values import check_values
from app.domain.taxonomy.products.classification import LONGEST_COUNTED_VALUE
from app.extensions import db

READ = {AttributeType.NUMBER: float, AttributeType.BOOLEAN: lambda text: text == "true"}
Conditions = tuple[ColumnElement[bool], ...]


@dataclass(frozen=True, slots=True)
class InvalidValuesImpact:
    """The number of products that hold a value which the new definition of an attribute does not take, though the old
    one did. `type` is that of the new definition on the level, `is_retyped` whether it was another one before."""

    level_id: str
    attribute_id: str
    name: str
    type: AttributeType
    is_retyped: bool
    products: int

    def as_json(self) -> dict[str, Any]:
        place = {"levelId": self.level_id, "attributeId": self.attribute_id, "name": self.name}
        return place | {"type": self.type.value, "products": self.products}


def invalid_values(
    before: TaxonomyTree, after: TaxonomyTree, lost: DataLoss, here: Conditions
) -> Iterator[InvalidValuesImpact]:
    """Yield the numbers of products whose values become invalid, by attribute. Two statements at most, each only where
    such an attribute changes; `here` are the conditions that narrow them to those attributes and levels. The first
    reads every value once a level. Values that no product holds are left out."""
    products: dict[AttributeAt, int] = {}
    for (level_id, attribute_id), number in _counts(before, after, lost, here).items():
        places = (*lost.narrowed.items(), *lost.one_of_several.items())
        at = next(key for key, levels in places if key[1] == attribute_id and level_id in levels)
        products[at] = products.get(at, 0) + number
    for (level_id, attribute_id), number in products.items():
        definition = after.applicable_attributes(level_id)[attribute_id]
        was = before.applicable_attributes(level_id).get(attribute_id)
        is_retyped = was is None or was.type is not definition.type
        yield InvalidValuesImpact(level_id, attribute_id, definition.name, definition.type, is_retyped, number)


def _counts(before: TaxonomyTree, after: TaxonomyTree, lost: DataLoss, here: Conditions) -> Mapping[AttributeAt, int]:
    """Count the products whose values become invalid, by their level and the attribute."""
    counts: dict[AttributeAt, int] = {}
    narrowed = _pairs(lost.narrowed)
    for level_id, attribute_id, text, number in _held(here) if narrowed else ():
        if (level_id, attribute_id) in narrowed:
            was = before.applicable_attributes(level_id)[attribute_id]
            now = after.applicable_attributes(level_id)[attribute_id]
            if _fits(was, was, text) and not _fits(was, now, text):
                counts[level_id, attribute_id] = counts.get((level_id, attribute_id), 0) + number
    single = _pairs(lost.one_of_several)
    for level_id, attribute_id, number in _with_several(here) if single else ():
        if (level_id, attribute_id) in single:
            counts[level_id, attribute_id] = number
    return counts


def _pairs(places: Mapping[AttributeAt, list[str]]) -> set[AttributeAt]:
    return {(level_id, attribute_id) for (_, attribute_id), levels in places.items() for level_id in levels}


def _held(here: Conditions) -> Iterator[Any]:
    held, at = ProductAttributeValue, Product.taxonomy_level_id
    query = select(at, held.attribute_id, held.value, func.count()).join_from(held, Product).where(*here)
    yield from db.session.execute(query.group_by(at, held.attribute_id, held.value))


def _with_several(here: Conditions) -> Iterator[Any]:
    held, at, other = ProductAttributeValue, Product.taxonomy_level_id, aliased(ProductAttributeValue)
    query = select(at, held.attribute_id, func.count(held.product_id.distinct())).join_from(held, Product)
    same = (other.product_id == held.product_id) & (other.attribute_id == held.attribute_id)
    two = query.join(other, same & (other.value < held.value)).where(*here)
    yield from db.session.execute(two.group_by(at, held.attribute_id))


def _fits(was: Attribute, definition: Attribute, text: str) -> bool:
    """Whether a stored text fits the new definition. The index holds only the beginning of a long text, which counts as
    fitting an attribute of texts."""
    if len(text) == LONGEST_COUNTED_VALUE and definition.type is AttributeType.STRING:
        return True
    value = READ[was.type](text) if was.type in READ else text
    return not check_values({definition.id: definition}, {definition.id: value})[1]
