"""Everything that the editor of one product shows beside its form."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.domain.catalogue.models import Product
from app.domain.catalogue.products import product_of
from app.domain.merchandising.queries import load_tree, placed_in
from app.domain.merchandising.tree import ShopTree
from app.domain.shared.clock import Clock
from app.domain.sites.sites import currency_of
from app.domain.taxonomy.models import Taxonomy
from app.domain.taxonomy.products.panel import attribute_label, path_label, stored_texts
from app.domain.taxonomy.taxonomies import ActiveTaxonomy, active_with_tree
from app.domain.taxonomy.tree import TaxonomyTree
from app.extensions import db


@dataclass(frozen=True, slots=True)
class Category:
    """A category in the editor of a product. `label` is the way to it, as in "Garden › Tools"; a hidden one, or one
    below it, is not shown to shoppers."""

    node_id: int
    label: str
    is_shown: bool


@dataclass(frozen=True, slots=True)
class ProductCategories:
    """The categories of a product: placed by hand, taken by the category's rule, and those in which it could be
    placed."""

    by_hand: Sequence[Category]
    by_rule: Sequence[Category]
    others: Sequence[Category]


@dataclass(frozen=True, slots=True)
class ArchivedClassification:
    """The classification of a product before another taxonomy became the active one. `level` is the way to its level,
    or the bare id where the taxonomy or the level is gone."""

    taxonomy: str
    level: str
    values: Sequence[tuple[str, str]]
    archived_at: str


@dataclass(frozen=True, slots=True)
class ProductEditor:
    """The facts of a product that its editor shows. `taxonomy` is the active one; None without."""

    product: Product
    currency: str
    categories: ProductCategories
    taxonomy: ActiveTaxonomy | None
    archived: ArchivedClassification | None


def product_editor(clock: Clock, site_id: int, product_id: int) -> ProductEditor:
    """Return the facts of a product that its editor shows. Raises NotFound."""
    product = product_of(site_id, product_id)
    taxonomy = active_with_tree(clock, site_id)
    return ProductEditor(
        product=product,
        currency=currency_of(site_id),
        categories=categories_of(product, load_tree(site_id), taxonomy.tree if taxonomy else TaxonomyTree()),
        taxonomy=taxonomy,
        archived=_archived(product, taxonomy),
    )


def categories_of(product: Product, tree: ShopTree, taxonomy: TaxonomyTree) -> ProductCategories:
    """Return the categories of a product. Those above one that takes it by a rule show it too and are left out."""
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
    """Return categories in the order of their labels, so that each stands under the one above it."""
    found = [Category(node_id, tree.label(node_id), tree.is_shown(tree.nodes[node_id])) for node_id in node_ids]
    return sorted(found, key=lambda category: category.label)


def _archived(product: Product, active: ActiveTaxonomy | None) -> ArchivedClassification | None:
    slot = product.archived_taxonomy_data
    if not slot:
        return None
    taxonomy_id, level_id = str(slot.get("taxonomyId") or ""), str(slot.get("levelId") or "")
    name, tree = _taxonomy_named(product.site_id, taxonomy_id, active)
    texts = stored_texts(slot.get("attributes") or {})
    return ArchivedClassification(
        taxonomy=name,
        level=path_label(tree, level_id) or level_id,
        values=[(attribute_label(tree, attribute_id), ", ".join(found)) for attribute_id, found in texts.items()],
        archived_at=str(slot.get("archivedAt") or ""),
    )


def _taxonomy_named(site_id: int, taxonomy_id: str, active: ActiveTaxonomy | None) -> tuple[str, TaxonomyTree]:
    if active is not None and active.id == taxonomy_id:
        return active.name, active.tree
    known = db.session.get(Taxonomy, (site_id, taxonomy_id))
    return (known.name, TaxonomyTree.parse(known.root_levels)) if known else (taxonomy_id, TaxonomyTree())
