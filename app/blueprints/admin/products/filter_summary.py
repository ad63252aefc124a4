"""The filters of a product list in words, for the summary of a change to all of its products."""

from __future__ import annotations

from collections.abc import Iterator

from app.domain.catalogue.listing import Completeness, ProductList, Shown, Stock
from app.domain.taxonomy.tree import TaxonomyTree

SHOWN = {Shown.ENABLED: "shown in the shop", Shown.DISABLED: "hidden"}
STOCK = {Stock.IN: "in stock", Stock.OUT: "out of stock", Stock.UNCOUNTED: "stock not counted"}
COMPLETENESS = {
    Completeness.COMPLETE: "complete",
    Completeness.INCOMPLETE: "not complete",
    Completeness.UNCLASSIFIED: "without a level",
    Completeness.GONE: "on a level that is gone",
}


def describe_filters(filters: ProductList, tree: TaxonomyTree) -> Iterator[str]:
    """Yield one phrase per filter that is set."""
    if filters.words:
        yield f"“{filters.words}”"
    for phrase in (SHOWN.get(filters.shown), STOCK.get(filters.stock), COMPLETENESS.get(filters.completeness)):
        if phrase:
            yield phrase
    if filters.manufacturer:
        yield f"of {filters.manufacturer}"
    if filters.level_id:
        level = tree.levels.get(filters.level_id)
        yield f"on the level “{level.name if level else filters.level_id}” or below"
    if filters.missing:
        yield f"without a value of {_name(tree, filters.missing)}"
    if filters.attribute:
        value = f" “{filters.value}”" if filters.value else " any value"
        yield f"{_name(tree, filters.attribute)}:{value}"


def _name(tree: TaxonomyTree, attribute_id: str) -> str:
    definitions = tree.attributes_by_id().get(attribute_id)
    return definitions[0].name if definitions else f"“{attribute_id}”"
