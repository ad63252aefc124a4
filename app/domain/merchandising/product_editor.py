"""Everything that the editor of one product shows beside its form."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.domain.catalogue.models import Product
from app.domain.catalogue.products import product_of
from app.domain.merchandising.queries import load_tree, placed_in
from app.domain.merchandising.tree import ShopTree
from app.domain.sites.currency import currency_of
from app.domain.taxonomy.classification import active_tree
from app.domain.taxonomy.completeness import missing
from app.domain.taxonomy.tree import TaxonomyTree


@dataclass(frozen=True, slots=True)
class Category:
    """`label` is the way to it, as in "Garden › Tools"; a hidden one, or one below it, is not shown to shoppers."""

    node_id: int
    label: str
    is_shown: bool


@dataclass(frozen=True, slots=True)
class ProductCategories:
    """Where shoppers find a product: placed by hand, taken by the category's rule, and where it could be placed."""

    by_hand: Sequence[Category]
    by_rule: Sequence[Category]
    others: Sequence[Category]


@dataclass(frozen=True, slots=True)
class AttributeText:
    label: str
    text: str


@dataclass(frozen=True, slots=True)
class ProductClassification:
    """`level` is the way to the product's level; `missing` names mandatory attributes without a value. `score` is
    the completeness in percent."""

    level: str
    score: int | None
    values: Sequence[AttributeText]
    missing: Sequence[str]


@dataclass(frozen=True, slots=True)
class ProductEditor:
    """`classification` is None without an active taxonomy or level."""

    product: Product
    currency: str
    categories: ProductCategories
    classification: ProductClassification | None


def product_editor(site_id: int, product_id: int) -> ProductEditor:
    """Raises NotFound."""
    product = product_of(site_id, product_id)
    taxonomy = active_tree(site_id)
    return ProductEditor(
        product=product,
        currency=currency_of(site_id),
        categories=categories_of(product, load_tree(site_id), taxonomy),
        classification=_classification(product, taxonomy),
    )


def categories_of(product: Product, tree: ShopTree, taxonomy: TaxonomyTree) -> ProductCategories:
    """Categories above one that shows the product show it too and are not repeated."""
    level_id = product.taxonomy_level_id
    level_path = taxonomy.path_ids(level_id) if level_id else []
    by_hand = set(placed_in(product.site_id, product.id)) & set(tree.nodes)
    shown_in = tree.categories_of(level_path, product.manufacturer)
    above = {parent.id for node_id in shown_in for parent in tree.ancestors(node_id)}
    by_rule = shown_in - above - by_hand
    return ProductCategories(
        by_hand=_categories(tree, by_hand),
        by_rule=_categories(tree, by_rule),
        others=_categories(tree, tree.nodes.keys() - by_hand),
    )


def _categories(tree: ShopTree, node_ids: Iterable[int]) -> list[Category]:
    """In the order of their labels, so that each stands under the one above it."""
    return sorted((_category(tree, node_id) for node_id in node_ids), key=lambda category: category.label)


def _category(tree: ShopTree, node_id: int) -> Category:
    label = " › ".join(step.name for step in tree.trail(node_id))
    return Category(node_id, label, tree.is_shown(tree.nodes[node_id]))


def _classification(product: Product, taxonomy: TaxonomyTree) -> ProductClassification | None:
    if product.taxonomy_level_id not in taxonomy.levels:
        return None
    attributes = taxonomy.applicable_attributes(product.taxonomy_level_id)
    held = product.taxonomy_attributes
    return ProductClassification(
        level=" › ".join(level.name for level in taxonomy.path(product.taxonomy_level_id)),
        score=product.completeness_score,
        values=[AttributeText(a.name, _value_text(held[a.id])) for a in attributes.values() if a.id in held],
        missing=[attribute.name for attribute in missing(attributes, held)],
    )


def _value_text(value: object) -> str:
    if isinstance(value, bool):
        return "Yes" if value else "No"
    if isinstance(value, list):
        return ", ".join(str(item) for item in value)
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)
