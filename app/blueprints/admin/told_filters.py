"""What a list of products is narrowed to, in words."""

from __future__ import annotations

from collections.abc import Iterator

from app.domain.catalogue.listing import Completeness, ProductList, Shown, Stock
from app.domain.taxonomy.levels.tree import TaxonomyTree

SHOWN = {Shown.ENABLED: "shown in the shop", Shown.DISABLED: "hidden"}
STOCK = {Stock.IN: "in stock", Stock.OUT: "out of stock", Stock.UNCOUNTED: "stock not counted"}
COMPLETENESS = {
    Completeness.COMPLETE: "complete",
    Completeness.INCOMPLETE: "not complete",
    Completeness.UNCLASSIFIED: "without a level",
    Completeness.GONE: "on a level that is gone",
}


def told_filters(asked: ProductList, tree: TaxonomyTree) -> list[str]:
    return list(_told(asked, tree))


def _told(asked: ProductList, tree: TaxonomyTree) -> Iterator[str]:
    if asked.words:
        yield f"“{asked.words}”"
    for words in (SHOWN.get(asked.shown), STOCK.get(asked.stock), COMPLETENESS.get(asked.completeness)):
        if words:
            yield words
    if asked.manufacturer:
        yield f"of {asked.manufacturer}"
    if asked.level_id:
        level = tree.levels.get(asked.level_id)
        yield f"on the level “{level.name if level else asked.level_id}” or below"
    if asked.missing:
        yield f"without a value of {_name(tree, asked.missing)}"
    if asked.attribute:
        value = f" “{asked.value}”" if asked.value else " any value"
        yield f"{_name(tree, asked.attribute)}:{value}"


def _name(tree: TaxonomyTree, attribute_id: str) -> str:
    definitions = tree.attributes_by_id().get(attribute_id)
    return definitions[0].name if definitions else f"“{attribute_id}”"
