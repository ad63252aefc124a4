"""Preview of giving many products a level or a value; nothing is changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, func, or_, select

from app.domain.catalogue.models import Product, ProductAttributeValue
from app.domain.shared.problems import Invalid
from app.domain.taxonomy.levels.tree import TaxonomyTree
from app.domain.taxonomy.products.classification import classification, values_held
from app.domain.taxonomy.tasks.assigning import Way, new_value
from app.domain.taxonomy.tasks.chosen import ids_of
from app.extensions import db

MOST_TRIED = 5_000  # Products whose values are checked one by one; more are counted by statements.

Chosen = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Lost:
    """An attribute of which `products` hold values that the new level does not take."""

    attribute_id: str
    name: str
    products: int


@dataclass(frozen=True, slots=True)
class LevelPreview:
    """The preview of giving products a level. Of `products`, `there` have the level already and `moving` would get it,
    `unclassified` of them their first. Where there are too many to check every value (`is_rough`), `lost` counts only
    those whose attribute does not hold."""

    products: int
    there: int
    unclassified: int
    lost: tuple[Lost, ...]
    is_rough: bool

    @property
    def moving(self) -> int:
        return self.products - self.there


@dataclass(frozen=True, slots=True)
class ValuePreview:
    """The preview of changing a value. Of `products`, `changing` would get another value, `replacing` of them in place
    of one that they have; `left_out` are on levels where the attribute does not hold or does not take the value. Where
    there are too many to look at each (`is_rough`), those that have this value already count as changing."""

    products: int
    changing: int
    replacing: int
    left_out: int
    is_rough: bool

    @property
    def unchanged(self) -> int:
        return self.products - self.changing - self.left_out


def level_preview(site_id: int, tree: TaxonomyTree, chosen: Chosen, level_id: str) -> LevelPreview:
    """Return the preview of giving the chosen products a level. Raises Invalid for an unknown level."""
    if level_id not in tree.levels:
        raise Invalid.one("unknown_level", "Choose a level of the active taxonomy.", "#/levelId")
    by_level = _by_level(site_id, tree, chosen)
    products, there = sum(by_level.values()), by_level.get(level_id, 0)
    moving = ids_of(site_id, chosen, tree).where(
        or_(Product.taxonomy_level_id != level_id, Product.taxonomy_level_id.is_(None))
    )
    is_rough = products - there > MOST_TRIED
    lost = _not_applicable(tree, moving, level_id) if is_rough else _tried(tree, moving, level_id)
    names = {attribute_id: found[0].name for attribute_id, found in tree.attributes_by_id().items()}
    lost_values = (Lost(attribute_id, names.get(attribute_id, attribute_id), n) for attribute_id, n in lost.items())
    most_first = tuple(sorted(lost_values, key=lambda loss: (-loss.products, loss.name)))
    return LevelPreview(products, there, by_level.get(None, 0), most_first, is_rough)


def levels_of(site_id: int, tree: TaxonomyTree, chosen: Chosen) -> list[str]:
    """The levels of the active taxonomy on which the chosen products are, in tree order."""
    by_level = _by_level(site_id, tree, chosen)
    return [level_id for level_id in tree.levels if level_id in by_level]


def _by_level(site_id: int, tree: TaxonomyTree, chosen: Chosen) -> dict[str | None, int]:
    ids = ids_of(site_id, chosen, tree)
    rows = db.session.execute(
        ids.with_only_columns(Product.taxonomy_level_id, func.count()).group_by(Product.taxonomy_level_id)
    )
    return {level_id: products for level_id, products in rows}


def _tried(tree: TaxonomyTree, ids: Select[int], level_id: str) -> Counter[str]:
    lost: Counter[str] = Counter()
    for held_at, values in _held(ids):
        known = values_held(tree, held_at, values)
        lost.update({dropped.attribute_id for dropped in classification(tree, level_id, known).dropped})
    return lost


def _not_applicable(tree: TaxonomyTree, ids: Select[int], level_id: str) -> Counter[str]:
    held = ProductAttributeValue
    query = select(held.attribute_id, func.count(held.product_id.distinct())).where(
        held.product_id.in_(ids), held.attribute_id.not_in(tree.applicable_attributes(level_id))
    )
    return Counter({key: products for key, products in db.session.execute(query.group_by(held.attribute_id))})


def _held(ids: Select[int]) -> Iterator[tuple[str | None, dict[str, Any]]]:
    """Yield the level and the values of each product."""
    columns = ids.with_only_columns(Product.taxonomy_level_id, Product.taxonomy_attributes)
    for row in db.session.execute(columns.execution_options(yield_per=1_000)):
        yield row.taxonomy_level_id, row.taxonomy_attributes


def value_preview(
    site_id: int, tree: TaxonomyTree, chosen: Chosen, attribute_id: str, way: Way, given: Any
) -> ValuePreview:
    """Return the preview of changing a value of the chosen products. Raises Invalid for an unknown attribute, and for a
    value that no level takes."""
    check_value(tree, attribute_id, way, given)
    by_level = _by_level(site_id, tree, chosen)
    products = sum(by_level.values())
    if products > MOST_TRIED:
        return _rough(site_id, tree, chosen, attribute_id, way, given, by_level)
    changing = replacing = left_out = 0
    for level_id, values in _held(ids_of(site_id, chosen, tree)):
        attribute, held = tree.applicable_attributes(level_id or "").get(attribute_id), values.get(attribute_id)
        accepted, value = new_value(attribute, way, given, held)
        left_out += not accepted
        changing += accepted and value != held
        replacing += accepted and value != held and held is not None and way is not Way.ADD
    return ValuePreview(products, changing, replacing, left_out, is_rough=False)


def check_value(tree: TaxonomyTree, attribute_id: str, way: Way, given: Any) -> None:
    """Check that some level takes a value. Raises Invalid, also for an unknown attribute."""
    definitions = tree.attributes_by_id().get(attribute_id)
    if definitions is None:
        raise Invalid.one("unknown_attribute", "Choose an attribute of the active taxonomy.", "#/attributeId")
    if not any(new_value(definition, way, given, None)[0] for definition in definitions):
        raise Invalid.one("value_refused", f"{definitions[0].name} does not take this value.", "#/given")


def _rough(
    site_id: int,
    tree: TaxonomyTree,
    chosen: Chosen,
    attribute_id: str,
    way: Way,
    given: Any,
    by_level: Mapping[Any, int],
) -> ValuePreview:
    """Return a rough preview by counting alone, as if the products that have a value had another one."""
    taking = [
        level_id
        for level_id in by_level
        if level_id is not None
        and new_value(tree.applicable_attributes(level_id).get(attribute_id), way, given, None)[0]
    ]
    taken = sum(by_level[level_id] for level_id in taking)
    ids = ids_of(site_id, chosen, tree).where(Product.taxonomy_level_id.in_(taking))
    held = ProductAttributeValue
    holding = select(func.count(held.product_id.distinct())).where(
        held.product_id.in_(ids), held.attribute_id == attribute_id
    )
    holders = db.session.scalar(holding) or 0
    products = sum(by_level.values())
    changing = {Way.FILL: taken - holders, Way.CLEAR: holders}.get(way, taken)
    replacing = holders if way in (Way.SET, Way.CLEAR) else 0
    return ValuePreview(products, changing, replacing, products - taken, is_rough=True)
