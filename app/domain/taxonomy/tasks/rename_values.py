"""Other words for values that products hold: the allowed value was renamed, so what they hold is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from sqlalchemy import Select, false, select

from app.domain.catalogue.models import Product, ProductAttributeValue
from app.domain.taxonomy.classification import LONGEST_COUNTED_VALUE, keep_values
from app.domain.taxonomy.tasks.batch import Batch, Task
from app.domain.taxonomy.tasks.report import count
from app.domain.taxonomy.tree import TaxonomyTree

Renames = Mapping[tuple[str, str], Mapping[str, str]]  # Other words by value, by (level id, attribute id).


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
    renames, defining = _by_definition(batch.task.parameters["renames"]), _definitions(batch.task.tree)
    changed = []
    for product in batch.products():
        values = _renamed(product, renames, defining)
        if values != product.taxonomy_attributes:
            keep_values(product, batch.task.tree, values)
            changed.append(product)
    batch.note_changed(changed)
    count(batch.report, "changed", len(changed))
    count(batch.report, "unchanged", len(batch.ids) - len(changed))


def _by_definition(renames: Iterable[Mapping[str, str]]) -> Renames:
    found: dict[tuple[str, str], dict[str, str]] = {}
    for rename in renames:
        words = found.setdefault((rename["levelId"], rename["attributeId"]), {})
        words[rename["value"]] = rename["renamed"]
    return found


def _definitions(tree: TaxonomyTree) -> Any:
    """A function from a level and an attribute to the level whose definition counts there, None without one."""

    @cache
    def defining(level_id: str, attribute_id: str) -> str | None:
        for level in reversed(tree.path(level_id)):
            if any(attribute.id == attribute_id for attribute in level.attributes):
                return level.id
        return None

    return defining


def _renamed(product: Product, renames: Renames, defining: Any) -> dict[str, Any]:
    level_id = product.taxonomy_level_id
    if level_id is None:
        return product.taxonomy_attributes
    return {
        attribute_id: _in_other_words(value, renames.get((defining(level_id, attribute_id), attribute_id), {}))
        for attribute_id, value in product.taxonomy_attributes.items()
    }


def _in_other_words(value: Any, words: Mapping[str, str]) -> Any:
    """A list keeps its order and tells nothing twice."""
    if isinstance(value, list):
        return list(dict.fromkeys(words.get(item, item) for item in value))
    return words.get(value, value) if isinstance(value, str) else value
