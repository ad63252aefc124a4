"""A site's taxonomies and category trees as documents."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from app.domain.catalogue.models import Product
from app.domain.merchandising.models import Node, Placement, Tree
from app.domain.sites.settings import settings_of
from app.domain.taxonomy.models import Taxonomy
from app.extensions import db

# A database may keep the fields of an object in any order; people read them in this one.
FIELD_ORDER = (
    *("levelId", "attributeId", "facetId", "name", "otherNames", "display", "label", "type", "unit", "description"),
    "helpText",
    *("parentLevelId", "pathSegment", "minProducts", "overrides", "value", "heading", "metaTitle", "metaDescription"),
    *("intro", "excluded", "displayOnProductPage", "displayLabel", "displayOrder", "allowedValues", "validation"),
    *("mandatory", "minLength", "maxLength", "minValue", "maxValue", "pattern", "errorMessage", "swatches"),
    *("attributes", "children"),
)
PLACES = {name: place for place, name in enumerate(FIELD_ORDER)}


def taxonomies(site_id: int) -> dict[str, Any]:
    active_id = settings_of(site_id)["taxonomy-active-id"]
    rows = db.session.scalars(select(Taxonomy).where(Taxonomy.site_id == site_id).order_by(Taxonomy.id))
    return {
        "taxonomies": [
            {
                "id": taxonomy.id,
                "name": taxonomy.name,
                "description": taxonomy.description,
                "active": taxonomy.id == active_id,
                "rootLevels": in_order(taxonomy.root_levels),
            }
            for taxonomy in rows
        ]
    }


def trees(site_id: int) -> dict[str, Any]:
    rows = db.session.scalars(select(Tree).where(Tree.site_id == site_id).order_by(Tree.id))
    return {"trees": [_tree(tree) for tree in rows]}


def _tree(tree: Tree) -> dict[str, Any]:
    query = select(Node).where(Node.tree_id == tree.id).order_by(Node.position, Node.id)
    children: dict[int | None, list[Node]] = {}
    for node in db.session.scalars(query):
        children.setdefault(node.parent_id, []).append(node)
    placed = _placed(tree)
    return {
        "name": tree.name,
        "primary": tree.primary,
        "facets": in_order(tree.facets),
        "landingRules": in_order(tree.default_landing_rules),
        "nodes": [_node(node, children, placed) for node in children.get(None, [])],
    }


def _placed(tree: Tree) -> dict[int, list[str]]:
    query = (
        select(Placement.node_id, Product.sku)
        .join(Node, Node.id == Placement.node_id)
        .join(Product, Product.id == Placement.product_id)
        .where(Node.tree_id == tree.id)
        .order_by(Placement.position, Product.id)
    )
    found: dict[int, list[str]] = {}
    for node_id, sku in db.session.execute(query):
        found.setdefault(node_id, []).append(sku)
    return found


def _node(node: Node, children: dict[int | None, list[Node]], placed: dict[int, list[str]]) -> dict[str, Any]:
    return {
        "name": node.name,
        "slug": node.slug,
        "visible": node.visible,
        "description": node.description,
        "seo": {
            "canonicalOverride": node.canonical_override,
            "excludeFromSitemap": node.exclude_from_sitemap,
            "metaTitle": node.meta_title,
            "metaDescription": node.meta_description,
        },
        "landingRules": in_order(node.landing_rules),
        "facets": in_order(node.facets),
        "products": placed.get(node.id, []),
        "source": {"levels": node.source_levels, "manufacturers": node.source_manufacturers},
        "children": [_node(child, children, placed) for child in children.get(node.id, [])],
    }


def in_order(value: Any) -> Any:
    if isinstance(value, list):
        return [in_order(item) for item in value]
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: (PLACES.get(name, len(PLACES)), name))
        return {name: in_order(value[name]) for name in names}
    return value
