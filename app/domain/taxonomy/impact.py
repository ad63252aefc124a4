"""The impact of a changed tree on products, and the values that they hold of a definition, counted before a save."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import chain
from typing import Any

from sqlalchemy import ColumnElement, func, select, true
from sqlalchemy.orm import InstrumentedAttribute, aliased

from app.domain.catalogue.models import Product, ProductAttributeValue
from app.domain.sites.settings import settings_of
from app.domain.taxonomy.data_loss import AttributeAt, DataLoss, data_loss, redefined
from app.domain.taxonomy.diff import LevelEntry, MovedLevel, RenamedLevel, StructureDiff, compare
from app.domain.taxonomy.models import Taxonomy
from app.domain.taxonomy.products.classification import LONGEST_COUNTED_VALUE
from app.domain.taxonomy.products.queries import products_by_level
from app.domain.taxonomy.renames import ValueRename
from app.domain.taxonomy.taxonomies import is_active
from app.domain.taxonomy.tree import Attribute, AttributeType, TaxonomyTree
from app.domain.taxonomy.values import check_values
from app.extensions import db

MOST_VALUES = 200  # Removed values that one preview counts.
MOST_PARAMETERS = 5_000  # Of one statement; with more, all rows are read, which is slower but counts the same.
FEW_LEVELS = 100
AttributeCounts = Mapping[tuple[str, str], int]
ValueCounts = Mapping[tuple[str, str, str], int]
READ = {AttributeType.NUMBER: float, AttributeType.BOOLEAN: lambda text: text == "true"}
Conditions = tuple[ColumnElement[bool], ...]


@dataclass(frozen=True, slots=True)
class LevelImpact:
    """The number of products at a level that is removed, moved or renamed. `renamed` is the new name of a renamed
    one."""

    level_id: str
    name: str
    products: int
    renamed: str = ""

    def as_json(self) -> dict[str, Any]:
        return {"levelId": self.level_id, "name": self.name, "products": self.products}


@dataclass(frozen=True, slots=True)
class AttributeImpact:
    """The number of products that lose or miss an attribute. `name` is the attribute's; `level_id` the level that
    defines it, or the moved level that loses it."""

    level_id: str
    attribute_id: str
    name: str
    products: int

    def as_json(self) -> dict[str, Any]:
        place = {"levelId": self.level_id, "attributeId": self.attribute_id}
        return place | {"name": self.name, "products": self.products}


@dataclass(frozen=True, slots=True)
class ValueImpact:
    """The number of products that hold a removed or renamed value. `renamed` is the new word of a renamed one."""

    level_id: str
    attribute_id: str
    name: str
    value: str
    products: int
    renamed: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return a renamed value as JSON."""
        place = {"levelId": self.level_id, "attributeId": self.attribute_id}
        return place | {"value": self.value, "renamed": self.renamed, "products": self.products}


@dataclass(frozen=True, slots=True)
class Impact:
    """The impact of a changed tree: `levels_removed` with the products at each, `levels_moved` and `levels_renamed`
    with those at and below it. An attribute or a value counts the products that hold it and for whom no definition is
    left that takes it; those at removed levels count only there. Values that no product holds are left out;
    `values_truncated`: there are more than MOST_VALUES. `attributes_lost` are inherited no more at and below a moved
    level, which keeps its products.
    `values_invalid` count products whose value the new type or rules of their attribute do not allow,
    `attributes_required` those without a value of an attribute that becomes mandatory."""

    levels_removed: tuple[LevelImpact, ...] = ()
    levels_moved: tuple[LevelImpact, ...] = ()
    attributes_removed: tuple[AttributeImpact, ...] = ()
    values_removed: tuple[ValueImpact, ...] = ()
    values_renamed: tuple[ValueImpact, ...] = ()
    attributes_lost: tuple[AttributeImpact, ...] = ()
    values_invalid: tuple[InvalidValuesImpact, ...] = ()
    attributes_required: tuple[AttributeImpact, ...] = ()
    levels_renamed: tuple[LevelImpact, ...] = ()
    values_truncated: bool = False

    @property
    def is_empty(self) -> bool:
        return not any(getattr(self, field.name) for field in fields(self))

    def as_json(self) -> dict[str, Any]:
        """Return the impact as JSON. A removed value is listed once for each attribute id, whichever levels define
        it."""
        return {
            "levelsRemoved": [level.as_json() for level in self.levels_removed],
            "levelsMoved": [level.as_json() for level in self.levels_moved],
            "attributesRemoved": [attribute.as_json() for attribute in self.attributes_removed],
            "valuesRemoved": _values_json(self.values_removed),
            "valuesTruncated": self.values_truncated,
            "valuesRenamed": [value.as_json() for value in self.values_renamed],
            "attributesLost": [attribute.as_json() for attribute in self.attributes_lost],
            "valuesUnfit": [attribute.as_json() for attribute in self.values_invalid],
            "attributesRequired": [attribute.as_json() for attribute in self.attributes_required],
        }


def impact(site_id: int, taxonomy: Taxonomy, after: TaxonomyTree, renames: Sequence[ValueRename] = ()) -> Impact:
    """Return the impact of replacing the stored tree by another one; levels are compared by id. Four statements, six
    where types or rules of attributes change, whatever the size; a taxonomy that is not the active one has no products,
    so everything is listed with 0."""
    before = taxonomy.tree
    changed = compare(before, after, renames)
    moved, removed = ({level.level_id for level in levels} for levels in (changed.levels_moved, changed.levels_removed))
    touched = redefined(before, after, {rename.level_id for rename in renames}) | removed
    renamed = (level.level_id for level in changed.levels_renamed)
    touched.update(chain.from_iterable(map(before.below, chain(moved, renamed))))
    direct = products_by_level(site_id, touched) if is_active(taxonomy) else {}
    lost = data_loss(before, after, moved, direct, renames)
    totals = before.rolled_up(direct)
    attributes, values = _attribute_counts(site_id, lost), _value_counts(site_id, lost)
    values_removed = _values_removed(before, lost, values)
    return Impact(
        levels_removed=tuple(_level_impact(level, direct) for level in changed.levels_removed),
        levels_moved=tuple(_level_impact(level, totals) for level in changed.levels_moved),
        attributes_removed=tuple(_attributes_removed(changed, lost, attributes)),
        values_removed=tuple(values_removed[:MOST_VALUES]),
        values_renamed=tuple(_values_renamed(after, lost, values, renames)),
        attributes_lost=tuple(_attributes_lost(before, lost, attributes)),
        values_invalid=tuple(invalid_values(before, after, lost, _values_judged_otherwise(site_id, lost))),
        attributes_required=tuple(_attributes_required(after, lost, direct, attributes)),
        levels_renamed=tuple(_level_impact(level, totals) for level in changed.levels_renamed),
        values_truncated=len(values_removed) > MOST_VALUES,
    )


def _level_impact(level: LevelEntry | MovedLevel | RenamedLevel, products: Mapping[str, int]) -> LevelImpact:
    renamed = level.renamed if isinstance(level, RenamedLevel) else ""
    return LevelImpact(level.level_id, level.name, products.get(level.level_id, 0), renamed)


def _attributes_removed(changed: StructureDiff, lost: DataLoss, counts: AttributeCounts) -> Iterator[AttributeImpact]:
    for entry in changed.attributes_removed:
        level_ids = lost.removed.get((entry.level_id, entry.attribute_id), ())
        products = sum(counts.get((level_id, entry.attribute_id), 0) for level_id in level_ids)
        yield AttributeImpact(entry.level_id, entry.attribute_id, entry.name, products)


def _attributes_lost(before: TaxonomyTree, lost: DataLoss, counts: AttributeCounts) -> Iterator[AttributeImpact]:
    for (moved_id, attribute_id), level_ids in lost.not_inherited.items():
        if products := sum(counts.get((level_id, attribute_id), 0) for level_id in level_ids):
            name = before.applicable_attributes(moved_id)[attribute_id].name
            yield AttributeImpact(moved_id, attribute_id, name, products)


def _attributes_required(
    after: TaxonomyTree, lost: DataLoss, direct: Mapping[str, int], counts: AttributeCounts
) -> Iterator[AttributeImpact]:
    for (of, attribute_id), level_ids in lost.required.items():
        if products := sum(direct.get(level_id, 0) - counts.get((level_id, attribute_id), 0) for level_id in level_ids):
            name = after.applicable_attributes(of)[attribute_id].name
            yield AttributeImpact(of, attribute_id, name, products)


def _values_removed(before: TaxonomyTree, lost: DataLoss, counts: ValueCounts) -> list[ValueImpact]:
    """Return the removed values in tree order, and within an attribute in that of its values."""
    found = []
    concerned = {(level_id, attribute_id) for level_id, attribute_id, _ in lost.values}
    for level in before.levels.values():
        for attribute in level.attributes:
            for value in attribute.allowed_values if (level.id, attribute.id) in concerned else ():
                level_ids = lost.values.get((level.id, attribute.id, value), ())
                if products := _count_holders(counts, level_ids, attribute.id, value):
                    found.append(ValueImpact(level.id, attribute.id, attribute.name, value, products))
    return found


def _values_renamed(
    after: TaxonomyTree, lost: DataLoss, counts: ValueCounts, renames: Iterable[ValueRename]
) -> Iterator[ValueImpact]:
    for rename in renames:
        level_id, attribute_id, value = rename.level_id, rename.attribute_id, rename.value
        if attribute := after.applicable_attributes(level_id).get(attribute_id):
            products = _count_holders(
                counts, lost.renamed.get((level_id, attribute_id, value), ()), attribute_id, value
            )
            yield ValueImpact(level_id, attribute_id, attribute.name, value, products, rename.renamed)


def _count_holders(counts: ValueCounts, level_ids: Iterable[str], attribute_id: str, value: str) -> int:
    text = value[:LONGEST_COUNTED_VALUE]
    return sum(counts.get((level_id, attribute_id, text), 0) for level_id in level_ids)


def _attribute_counts(site_id: int, lost: DataLoss) -> AttributeCounts:
    """Count the products that hold any value of an attribute, by their level and the attribute."""
    wanted = {attribute_id for _, attribute_id in chain(lost.removed, lost.not_inherited, lost.required)}
    if not wanted:
        return {}
    held, level_id = ProductAttributeValue, Product.taxonomy_level_id
    query = select(level_id, held.attribute_id, func.count(held.product_id.distinct()))
    places = (lost.removed, lost.not_inherited, lost.required)
    levels = set(chain.from_iterable(chain.from_iterable(place.values() for place in places)))
    query = query.join_from(held, Product).where(*_values_held_at(levels, site_id, wanted))
    found = db.session.execute(query.group_by(level_id, held.attribute_id))
    return {(level or "", attribute_id): products for level, attribute_id, products in found}


def _value_counts(site_id: int, lost: DataLoss) -> ValueCounts:
    """Count the products that hold a value, by their level, the attribute and the value."""
    wanted = set(chain(lost.values, lost.renamed))
    if not wanted:
        return {}
    held, level_id = ProductAttributeValue, Product.taxonomy_level_id
    texts = {value[:LONGEST_COUNTED_VALUE] for _, _, value in wanted}
    query = select(level_id, held.attribute_id, held.value, func.count())
    levels = set(chain.from_iterable(chain(lost.values.values(), lost.renamed.values())))
    query = query.join_from(held, Product).where(*_values_held_at(levels, site_id, {of for _, of, _ in wanted}))
    found = db.session.execute(
        query.where(_is_among(held.value, texts)).group_by(level_id, held.attribute_id, held.value)
    )
    return {(level or "", attribute_id, value): products for level, attribute_id, value, products in found}


def _values_judged_otherwise(site_id: int, lost: DataLoss) -> tuple[ColumnElement[bool], ...]:
    levels = set(chain.from_iterable(chain(lost.narrowed.values(), lost.one_of_several.values())))
    return _values_held_at(
        levels, site_id, {attribute_id for _, attribute_id in chain(lost.narrowed, lost.one_of_several)}
    )


def _values_held_at(
    level_ids: Collection[str], site_id: int, attribute_ids: Collection[str]
) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions on values held at the levels. Where few levels are concerned, nothing leads the database to
    the values but the products of those levels, of which it reads a few; otherwise it may begin with the values."""
    held, level_id = ProductAttributeValue, Product.taxonomy_level_id
    here = [Product.site_id == site_id, level_id.is_not(None), _is_among(level_id, level_ids)]
    if len(level_ids) > FEW_LEVELS:
        here.append(held.site_id == site_id)
    return *here, _is_among(held.attribute_id, attribute_ids)


def _is_among(column: InstrumentedAttribute[Any], wanted: Collection[str]) -> ColumnElement[bool]:
    return column.in_(sorted(wanted)) if len(wanted) <= MOST_PARAMETERS else true()


def _values_json(values: Iterable[ValueImpact]) -> list[dict[str, Any]]:
    products: dict[tuple[str, str], int] = {}
    for value in values:
        key = (value.attribute_id, value.value)
        products[key] = products.get(key, 0) + value.products
    return [{"attributeId": of, "value": value, "products": number} for (of, value), number in products.items()]


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
    for (level_id, attribute_id), number in _invalid_counts(before, after, lost, here).items():
        places = (*lost.narrowed.items(), *lost.one_of_several.items())
        at = next(key for key, levels in places if key[1] == attribute_id and level_id in levels)
        products[at] = products.get(at, 0) + number
    for (level_id, attribute_id), number in products.items():
        definition = after.applicable_attributes(level_id)[attribute_id]
        was = before.applicable_attributes(level_id).get(attribute_id)
        is_retyped = was is None or was.type is not definition.type
        yield InvalidValuesImpact(level_id, attribute_id, definition.name, definition.type, is_retyped, number)


def _invalid_counts(
    before: TaxonomyTree, after: TaxonomyTree, lost: DataLoss, here: Conditions
) -> Mapping[AttributeAt, int]:
    """Count the products whose values become invalid, by their level and the attribute."""
    counts: dict[AttributeAt, int] = {}
    narrowed = _levels_and_attributes(lost.narrowed)
    for level_id, attribute_id, text, number in _values_once_a_level(here) if narrowed else ():
        if (level_id, attribute_id) in narrowed:
            was = before.applicable_attributes(level_id)[attribute_id]
            now = after.applicable_attributes(level_id)[attribute_id]
            if _text_fits(was, was, text) and not _text_fits(was, now, text):
                counts[level_id, attribute_id] = counts.get((level_id, attribute_id), 0) + number
    single = _levels_and_attributes(lost.one_of_several)
    for level_id, attribute_id, number in _with_several(here) if single else ():
        if (level_id, attribute_id) in single:
            counts[level_id, attribute_id] = number
    return counts


def _levels_and_attributes(places: Mapping[AttributeAt, list[str]]) -> set[AttributeAt]:
    return {(level_id, attribute_id) for (_, attribute_id), levels in places.items() for level_id in levels}


def _values_once_a_level(here: Conditions) -> Iterator[Any]:
    held, at = ProductAttributeValue, Product.taxonomy_level_id
    query = select(at, held.attribute_id, held.value, func.count()).join_from(held, Product).where(*here)
    yield from db.session.execute(query.group_by(at, held.attribute_id, held.value))


def _with_several(here: Conditions) -> Iterator[Any]:
    held, at, other = ProductAttributeValue, Product.taxonomy_level_id, aliased(ProductAttributeValue)
    query = select(at, held.attribute_id, func.count(held.product_id.distinct())).join_from(held, Product)
    same = (other.product_id == held.product_id) & (other.attribute_id == held.attribute_id)
    two = query.join(other, same & (other.value < held.value)).where(*here)
    yield from db.session.execute(two.group_by(at, held.attribute_id))


def _text_fits(was: Attribute, definition: Attribute, text: str) -> bool:
    """Whether a stored text fits the new definition. The index holds only the beginning of a long text, which counts as
    fitting an attribute of texts."""
    if len(text) == LONGEST_COUNTED_VALUE and definition.type is AttributeType.STRING:
        return True
    value = READ[was.type](text) if was.type in READ else text
    return not check_values({definition.id: definition}, {definition.id: value})[1]


@dataclass(frozen=True, slots=True)
class StoredValues:
    """The numbers of products that hold values of a definition: `products` any value, `values` each by its text.
    `counted` is False for a taxonomy that is not the active one, of which no product holds anything."""

    counted: bool = False
    products: int = 0
    values: Mapping[str, int] = field(default_factory=dict)

    def of(self, value: str) -> int:
        return self.values.get(value, 0)


NO_STORED_VALUES = StoredValues()


def stored_values(site_id: int, taxonomy_id: str, tree: TaxonomyTree, level_id: str, attribute_id: str) -> StoredValues:
    """Count the values of the products for whose level the definition on `level_id` is the nearest. Two statements at
    most."""
    if settings_of(site_id)["taxonomy-active-id"] != taxonomy_id:
        return NO_STORED_VALUES
    held = [ProductAttributeValue.site_id == site_id, ProductAttributeValue.attribute_id == attribute_id]
    if len(tree.attributes_by_id().get(attribute_id, ())) > 1:
        level_ids = tree.governed_levels(level_id, attribute_id)
        there = select(Product.id).where(Product.site_id == site_id, Product.taxonomy_level_id.in_(level_ids))
        held.append(ProductAttributeValue.product_id.in_(there))
    by_value = select(ProductAttributeValue.value, func.count()).where(*held).group_by(ProductAttributeValue.value)
    values = {value: products for value, products in db.session.execute(by_value)}
    if not values:
        return StoredValues(counted=True)
    products = db.session.scalar(select(func.count(ProductAttributeValue.product_id.distinct())).where(*held))
    return StoredValues(True, products or 0, values)
