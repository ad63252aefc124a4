"""Another level, or the value of one attribute, for many products at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from sqlalchemy import Select

from app.domain.catalogue.models import Product
from app.domain.taxonomy.levels.attribute import Attribute, AttributeType
from app.domain.taxonomy.levels.tree import TaxonomyTree
from app.domain.taxonomy.levels.values import DroppedValue, Value, check_values
from app.domain.taxonomy.products.classification import classification, keep_values, values_held
from app.domain.taxonomy.tasks.batch import Batch, Task
from app.domain.taxonomy.tasks.chosen import ids_of
from app.domain.taxonomy.tasks.report import count


class Way(StrEnum):
    """The treatment of a value that a product has already: SET replaces it, FILL leaves it and fills gaps, ADD adds to
    a choice of several, CLEAR takes it away."""

    SET = "set"
    FILL = "fill"
    ADD = "add"
    CLEAR = "clear"


def candidates(task: Task) -> Select[int]:
    return ids_of(task.site_id, task.parameters, task.tree)


def change_level(batch: Batch) -> None:
    """Give the products the level. Values whose attribute holds at the new level as well, and which are valid there,
    stay. A product that is there already is left as it is. Raises Invalid when the active taxonomy has no such
    level."""
    tree, level_id = batch.task.tree, batch.task.parameters["levelId"]
    names, moved = _names(tree), []
    for product in batch.products():
        if product.taxonomy_level_id == level_id:
            continue
        held = values_held(tree, product.taxonomy_level_id, product.taxonomy_attributes)
        found = classification(tree, level_id, held)
        product.taxonomy_level_id = level_id
        product.taxonomy_attributes = found.values
        product.completeness_score = found.score
        batch.note_loss("dropped", product, _by_attribute(found.dropped), names)
        moved.append(product)
    batch.note_changed(moved)
    count(batch.report, "changed", len(moved))
    count(batch.report, "unchanged", len(batch.ids) - len(moved))


def change_value(batch: Batch) -> None:
    """Change the value of the attribute on the products. Products on whose level the attribute does not hold, or where
    the value breaks its rules, are left out. Other values stay as they are."""
    parameters, tree = batch.task.parameters, batch.task.tree
    attribute_id, names, changed = parameters["attributeId"], _names(tree), []
    for product in batch.products():
        attribute = tree.applicable_attributes(product.taxonomy_level_id or "").get(attribute_id)
        held = product.taxonomy_attributes.get(attribute_id)
        accepted, value = new_value(attribute, Way(parameters["way"]), parameters.get("value"), held)
        if not accepted:
            count(batch.report, "skipped")
        elif value == held:
            count(batch.report, "unchanged")
        else:
            if held is not None and Way(parameters["way"]) is not Way.ADD:
                batch.note_loss("replaced", product, {attribute_id: held}, names)
            _put(product, tree, attribute_id, value)
            changed.append(product)
    batch.note_changed(changed)
    count(batch.report, "changed", len(changed))


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


def _put(product: Product, tree: TaxonomyTree, attribute_id: str, value: Value | None) -> None:
    others = {key: other for key, other in product.taxonomy_attributes.items() if key != attribute_id}
    keep_values(product, tree, others if value is None else others | {attribute_id: value})


def _names(tree: TaxonomyTree) -> dict[str, str]:
    return {attribute_id: definitions[0].name for attribute_id, definitions in tree.attributes_by_id().items()}


def _by_attribute(dropped: Iterable[DroppedValue]) -> Mapping[str, Any]:
    """Return the dropped values by attribute id. Of a choice of several each value is dropped for itself."""
    lost: dict[str, Any] = {}
    for value in dropped:
        earlier = lost.get(value.attribute_id)
        lost[value.attribute_id] = value.value if earlier is None else [*_listed(earlier), *_listed(value.value)]
    return lost


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
