"""Queries of categories for the shop."""

from __future__ import annotations

from sqlalchemy import select

from app.domain.merchandising.models import Node, Placement, Tree
from app.domain.merchandising.tree import Facet, ShopNode, ShopTree
from app.extensions import db

ORDERED_BY_HAND = 500  # Products of a category whose hand-made order is kept; the rest follow.


def load_tree(site_id: int) -> ShopTree:
    """All categories of a site, in two queries. Without a primary tree the oldest one takes its place."""
    trees = db.session.execute(
        select(Tree.id, Tree.facets, Tree.default_landing_rules)
        .where(Tree.site_id == site_id)
        .order_by(Tree.primary.desc(), Tree.id)
    ).all()
    nodes = db.session.scalars(
        select(Node).where(Node.site_id == site_id).order_by(Node.tree_id, Node.position, Node.id)
    ).all()
    return ShopTree(
        nodes=[_shop_node(node) for node in nodes],
        tree_facets={tree.id: tuple(map(Facet.read, tree.facets)) for tree in trees},
        primary_tree_id=trees[0].id if trees else None,
        default_landing_rules={tree.id: tuple(tree.default_landing_rules) for tree in trees},
    )


def hand_made_order(site_id: int, node_id: int) -> list[int]:
    """Ids of the products placed in a category by hand, in its own order."""
    return list(
        db.session.scalars(
            select(Placement.product_id)
            .where(Placement.site_id == site_id, Placement.node_id == node_id)
            .order_by(Placement.position, Placement.product_id)
            .limit(ORDERED_BY_HAND)
        )
    )


def placed_in(site_id: int, product_id: int) -> list[int]:
    """Ids of the categories in which a product is placed by hand."""
    return list(
        db.session.scalars(
            select(Placement.node_id).where(Placement.site_id == site_id, Placement.product_id == product_id)
        )
    )


def _shop_node(node: Node) -> ShopNode:
    return ShopNode(
        id=node.id,
        tree_id=node.tree_id,
        parent_id=node.parent_id,
        name=node.name,
        slug=node.slug,
        path=node.path,
        visible=node.visible,
        description=node.description,
        canonical_override=node.canonical_override,
        exclude_from_sitemap=node.exclude_from_sitemap,
        meta_title=node.meta_title,
        meta_description=node.meta_description,
        updated_at=node.updated_at,
        own_landing_rules=None if node.landing_rules is None else tuple(node.landing_rules),
        own_facets=None if node.facets is None else tuple(map(Facet.read, node.facets)),
        source_levels=tuple(node.source_levels),
        source_manufacturers=tuple(node.source_manufacturers),
    )
