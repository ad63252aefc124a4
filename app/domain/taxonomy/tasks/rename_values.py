"""Other words for values that products hold: the allowed value was renamed, so what they hold is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Select, false, select

from app.domain.catalogue.models import Product, ProductAttributeValue
from app.domain.taxonomy.attribute import Attribute
from app.domain.taxonomy.classification import LONGEST_COUNTED_VALUE, keep_values
from app.domain.taxonomy.renamed_words import by_definition, in_other_words
from app.domain.taxonomy.tasks.batch import Batch, Task
from app.domain.taxonomy.tasks.report import count


def candidates(task: Task) -> Select[int]:
    """Those that hold such a value, on whatever level: which definition counts there is looked at one by one. A
    taxonomy that is not active classifies nothing."""
    every = select(Product.id).where(Product.site_id == task.site_id)
    if task.taxonomy_id != task.parameters["taxonomyId"]:
        return every.where(false())
    renames = task.parameters["renames"]
    holding = select(ProductAttributeValue.product_id).where(
        ProductAttributeValue.site_id == task.site_id,
        ProductAttributeValue.attribute_id.in_({rename["attributeId"] for rename in renames}),
        ProductAttributeValue.value.in_({rename["value"][:LONGEST_COUNTED_VALUE] for rename in renames}),
    )
    return every.where(Product.id.in_(holding))


def change(batch: Batch) -> None:
    """Whether the new word is still allowed does not matter: a later task may rename it again."""
    tree = batch.task.tree.knowing(by_definition(batch.task.parameters["renames"]))
    changed = []
    for product in batch.products():
        values = _renamed(tree.applicable_attributes(product.taxonomy_level_id or ""), product.taxonomy_attributes)
        if values != product.taxonomy_attributes:
            keep_values(product, batch.task.tree, values)
            changed.append(product)
    batch.note_changed(changed)
    count(batch.report, "changed", len(changed))
    count(batch.report, "unchanged", len(batch.ids) - len(changed))


def _renamed(attributes: Mapping[str, Attribute], values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        attribute_id: in_other_words(value, attributes[attribute_id].former) if attribute_id in attributes else value
        for attribute_id, value in values.items()
    }
