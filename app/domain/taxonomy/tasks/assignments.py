"""Another level, or the value of one attribute, for many products at once.

Which products are chosen, the preview, the request for the task, and its work, in this order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import Select, func, or_, select

from app.domain.catalogue.listing import ProductList
from app.domain.catalogue.models import Product, ProductAttributeValue
from app.domain.catalogue.products import MOST_AT_ONCE
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, Invalid
from app.domain.taxonomy.models import Kind, TaxonomyTask
from app.domain.taxonomy.products.classification import classification, keep_values, values_held
from app.domain.taxonomy.products.queries import matching_ids
from app.domain.taxonomy.tasks import queue
from app.domain.taxonomy.tasks.batch import Batch, Task
from app.domain.taxonomy.tasks.summary import add_count
from app.domain.taxonomy.taxonomies import active_with_tree
from app.domain.taxonomy.tree import Attribute, AttributeType, Level, TaxonomyTree
from app.domain.taxonomy.values import DroppedValue, Value, check_values
from app.extensions import db

MOST_CHECKED = 5_000  # Products whose values are checked one by one; more are counted by statements.

Chosen = Mapping[str, Any]  # The parameters of a task that say which products, as `chosen_products` makes them.


class Way(StrEnum):
    """The treatment of a value that a product has already: SET replaces it, FILL leaves it and fills gaps, ADD adds to
    a choice of several, CLEAR takes it away."""

    SET = "set"
    FILL = "fill"
    ADD = "add"
    CLEAR = "clear"


def chosen_products(site_id: int, product_ids: Sequence[int], filters: ProductList) -> dict[str, Any]:
    """Return the parameters of a task about these products, or without ids about all of the filtered list, except
    products that are added later. Raises Invalid for more than MOST_AT_ONCE ids."""
    if len(set(product_ids)) > MOST_AT_ONCE:
        raise Invalid.one("too_many", f"At most {MOST_AT_ONCE} products can be ticked at once.")
    if product_ids:
        return {"products": sorted(set(product_ids))}
    newest = db.session.scalar(select(func.max(Product.id)).where(Product.site_id == site_id))
    return {"filter": filters.query(), "upTo": newest or 0}


def chosen_ids(site_id: int, parameters: Mapping[str, Any], tree: TaxonomyTree) -> Select[int]:
    """Return the query of the ids of the products that the parameters of a task name, in any order; only products of
    the site are among them."""
    if "products" in parameters:
        return select(Product.id).where(Product.site_id == site_id, Product.id.in_(parameters["products"]))
    filters = ProductList.parse(parameters["filter"])
    return matching_ids(site_id, filters, tree).where(Product.id <= parameters["upTo"])


def count_chosen(site_id: int, parameters: Mapping[str, Any], tree: TaxonomyTree) -> int:
    query = chosen_ids(site_id, parameters, tree).with_only_columns(func.count())
    return db.session.scalar(query) or 0


def new_value(attribute: Attribute | None, way: Way, given: Any, held: Any) -> tuple[bool, Value | None]:
    """Return whether a product takes part, and the value that it has afterwards, None for none. `attribute` is the
    definition that counts for the product, None where there is none; `held` is its present value."""
    if way is Way.CLEAR:
        return (attribute is not None or held is not None), None
    if attribute is None:
        return False, None
    values, dropped = check_values({attribute.id: attribute}, {attribute.id: given})
    value = values.get(attribute.id)
    if value is None or dropped:
        return False, None
    if way is Way.FILL and held is not None:
        return True, held
    if way is Way.ADD and attribute.type is AttributeType.MULTI_SELECT and isinstance(value, list):
        return True, list(dict.fromkeys([*(held if isinstance(held, list) else []), *value]))
    return True, value


@dataclass(frozen=True, slots=True)
class LostAttribute:
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
    lost: tuple[LostAttribute, ...]
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
    _level_to_assign(tree, level_id)
    by_level = _count_by_level(site_id, tree, chosen)
    products, there = sum(by_level.values()), by_level.get(level_id, 0)
    moving = _not_on_level(chosen_ids(site_id, chosen, tree), level_id)
    is_rough = products - there > MOST_CHECKED
    lost = (
        _count_lost_by_attribute(tree, moving, level_id)
        if is_rough
        else _count_lost_by_checking(tree, moving, level_id)
    )
    names = tree.attribute_names()
    lost_values = (
        LostAttribute(attribute_id, names.get(attribute_id, attribute_id), n) for attribute_id, n in lost.items()
    )
    most_first = tuple(sorted(lost_values, key=lambda loss: (-loss.products, loss.name)))
    return LevelPreview(products, there, by_level.get(None, 0), most_first, is_rough)


def _not_on_level(ids: Select[int], level_id: str) -> Select[int]:
    return ids.where(or_(Product.taxonomy_level_id != level_id, Product.taxonomy_level_id.is_(None)))


def first_chosen(site_id: int, tree: TaxonomyTree, chosen: Chosen, most: int, level_id: str | None) -> list[int]:
    """Return the ids of the first `most` chosen products, where a level is given of those that are not on it."""
    ids = chosen_ids(site_id, chosen, tree)
    ids = ids if level_id is None else _not_on_level(ids, level_id)
    return list(db.session.scalars(ids.order_by(Product.id).limit(most)))


def _level_to_assign(tree: TaxonomyTree, level_id: str) -> Level:
    """Return the level that products are to get. Raises Invalid for an unknown one."""
    level = tree.levels.get(level_id)
    if level is None:
        raise Invalid.one("unknown_level", "Choose a level of the active taxonomy.", "#/levelId")
    return level


def levels_of(site_id: int, tree: TaxonomyTree, chosen: Chosen) -> list[str]:
    """The levels of the active taxonomy on which the chosen products are, in tree order."""
    by_level = _count_by_level(site_id, tree, chosen)
    return [level_id for level_id in tree.levels if level_id in by_level]


def _count_by_level(site_id: int, tree: TaxonomyTree, chosen: Chosen) -> dict[str | None, int]:
    ids = chosen_ids(site_id, chosen, tree)
    rows = db.session.execute(
        ids.with_only_columns(Product.taxonomy_level_id, func.count()).group_by(Product.taxonomy_level_id)
    )
    return {level_id: products for level_id, products in rows}


def _count_lost_by_checking(tree: TaxonomyTree, ids: Select[int], level_id: str) -> Counter[str]:
    lost: Counter[str] = Counter()
    for held_at, values in _read_values(ids):
        known = values_held(tree, held_at, values)
        lost.update({dropped.attribute_id for dropped in classification(tree, level_id, known).dropped})
    return lost


def _count_lost_by_attribute(tree: TaxonomyTree, ids: Select[int], level_id: str) -> Counter[str]:
    held = ProductAttributeValue
    query = select(held.attribute_id, func.count(held.product_id.distinct())).where(
        held.product_id.in_(ids), held.attribute_id.not_in(tree.applicable_attributes(level_id))
    )
    return Counter({key: products for key, products in db.session.execute(query.group_by(held.attribute_id))})


def _read_values(ids: Select[int]) -> Iterator[tuple[str | None, dict[str, Any]]]:
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
    by_level = _count_by_level(site_id, tree, chosen)
    products = sum(by_level.values())
    if products > MOST_CHECKED:
        return _estimate_value_preview(site_id, tree, chosen, attribute_id, way, given, by_level)
    changing = replacing = left_out = 0
    for level_id, values in _read_values(chosen_ids(site_id, chosen, tree)):
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


def _estimate_value_preview(
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
    ids = chosen_ids(site_id, chosen, tree).where(Product.taxonomy_level_id.in_(taking))
    held = ProductAttributeValue
    holding = select(func.count(held.product_id.distinct())).where(
        held.product_id.in_(ids), held.attribute_id == attribute_id
    )
    holders = db.session.scalar(holding) or 0
    products = sum(by_level.values())
    changing = {Way.FILL: taken - holders, Way.CLEAR: holders}.get(way, taken)
    replacing = holders if way in (Way.SET, Way.CLEAR) else 0
    return ValuePreview(products, changing, replacing, products - taken, is_rough=True)


def assign_level(author: Author, chosen: Chosen, level_id: str) -> TaxonomyTask:
    """Request the task that gives products a level, and return it. Raises Invalid for an unknown level, Conflict
    without an active taxonomy."""
    taxonomy_id, tree = _active_taxonomy(author)
    level = _level_to_assign(tree, level_id)
    parameters = {"taxonomyId": taxonomy_id, "levelId": level_id, "levelName": level.name, **chosen}
    return queue.request(author, Kind.ASSIGN_LEVEL, parameters)


def assign_value(author: Author, chosen: Chosen, attribute_id: str, way: Way, given: Any) -> TaxonomyTask:
    """Request the task that changes a value of products, and return it. Raises Invalid for an unknown attribute or a
    value that no level takes, Conflict without an active taxonomy."""
    taxonomy_id, tree = _active_taxonomy(author)
    check_value(tree, attribute_id, way, given)
    parameters = {
        "taxonomyId": taxonomy_id,
        "attributeId": attribute_id,
        "attributeName": tree.attribute_names()[attribute_id],
        "way": way.value,
        "value": None if way is Way.CLEAR else given,
        **chosen,
    }
    return queue.request(author, Kind.ASSIGN_VALUE, parameters)


def _active_taxonomy(author: Author) -> tuple[str, TaxonomyTree]:
    taxonomy = active_with_tree(author.clock, author.site_id)
    if taxonomy is None:
        raise Conflict("No taxonomy is active, so there are no levels and attributes to give.")
    return taxonomy.id, taxonomy.tree


def assignment_candidates(task: Task) -> Select[int]:
    return chosen_ids(task.site_id, task.parameters, task.tree)


def change_level(batch: Batch) -> None:
    """Give the products the level. Values whose attribute holds at the new level as well, and which are valid there,
    stay. A product that is there already is left as it is. Raises Invalid when the active taxonomy has no such
    level."""
    tree, level_id = batch.task.tree, batch.task.parameters["levelId"]
    names, moved = tree.attribute_names(), []
    for product in batch.products():
        if product.taxonomy_level_id == level_id:
            continue
        held = values_held(tree, product.taxonomy_level_id, product.taxonomy_attributes)
        found = classification(tree, level_id, held)
        batch.keep_before(product)
        product.taxonomy_level_id = level_id
        product.taxonomy_attributes = found.values
        product.completeness_score = found.score
        batch.note_loss("dropped", product, _by_attribute(found.dropped), names)
        moved.append(product)
    batch.note_changed(moved)
    add_count(batch.report, "changed", len(moved))
    add_count(batch.report, "unchanged", len(batch.ids) - len(moved))


def change_value(batch: Batch) -> None:
    """Change the value of the attribute on the products. Products on whose level the attribute does not hold, or where
    the value breaks its rules, are left out. Other values stay as they are."""
    parameters, tree = batch.task.parameters, batch.task.tree
    attribute_id, names, changed = parameters["attributeId"], tree.attribute_names(), []
    for product in batch.products():
        attribute = tree.applicable_attributes(product.taxonomy_level_id or "").get(attribute_id)
        held = product.taxonomy_attributes.get(attribute_id)
        accepted, value = new_value(attribute, Way(parameters["way"]), parameters.get("value"), held)
        if not accepted:
            add_count(batch.report, "skipped")
        elif value == held:
            add_count(batch.report, "unchanged")
        else:
            if held is not None and Way(parameters["way"]) is not Way.ADD:
                batch.note_loss("replaced", product, {attribute_id: held}, names)
            batch.keep_before(product)
            others = {key: other for key, other in product.taxonomy_attributes.items() if key != attribute_id}
            keep_values(product, tree, others if value is None else others | {attribute_id: value})
            changed.append(product)
    batch.note_changed(changed)
    add_count(batch.report, "changed", len(changed))


def _by_attribute(dropped: Iterable[DroppedValue]) -> Mapping[str, Any]:
    """Return the dropped values by attribute id. Of a choice of several each value is dropped for itself."""
    lost: dict[str, Any] = {}
    for value in dropped:
        earlier = lost.get(value.attribute_id)
        lost[value.attribute_id] = value.value if earlier is None else [*_as_list(earlier), *_as_list(value.value)]
    return lost


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
