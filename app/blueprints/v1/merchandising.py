"""Trees of categories and their landing pages for other programs: the same use cases as the admin's own."""

from __future__ import annotations

from typing import Any

from flask import request

from app import ports
from app.blueprints.json_body import LARGEST_RULES
from app.blueprints.v1.api import ApiBlueprint
from app.blueprints.v1.bearer import caller, calling_author, requires_token
from app.blueprints.v1.merchandising_shapes import (
    RULES_EXAMPLE,
    LandingPagesShape,
    NodeRulesBody,
    NodeRulesShape,
    TreeRulesBody,
    TreeRulesShape,
    TreesShape,
)
from app.blueprints.v1.taxonomy_shapes import PageQuery
from app.domain.merchandising.shop import read_shop
from app.domain.merchandising.trees import ListedTree, nested_trees
from app.domain.seo.landing import stored_rules
from app.domain.seo.landing.pages import LandingPage
from app.domain.seo.landing.stored_rules import NodeRules
from app.domain.shared.address_values import lookup_id
from app.domain.shared.paging import Paged
from app.permissions import Permission
from app.transaction import transaction

bp = ApiBlueprint("v1_merchandising", __name__, url_prefix="/v1/admin/merchandising", tag="Merchandising")
NODE_RULES = "/nodes/<node_id>/landing-rules"
TREE_RULES = "/trees/<tree_id>/landing-rules"


@bp.url_value_preprocessor
def _let_rules_in(endpoint: str | None, _values: dict[str, Any] | None) -> None:
    if endpoint in ("v1_merchandising.save_tree_rules", "v1_merchandising.save_node_rules"):
        request.max_content_length = LARGEST_RULES


@bp.get("/trees")
@requires_token(Permission.MANAGE_MERCHANDISING)
@bp.described("listTrees", 401, 403)
@bp.arguments(PageQuery, location="query")
@bp.response(200, TreesShape)
def trees(query: dict[str, int]) -> Paged[ListedTree]:
    """The trees of categories, the one that shoppers browse first, with all categories nested."""
    return Paged.cut(nested_trees(caller().site_id), query["page_number"], query["page_size"])


@bp.get(TREE_RULES)
@requires_token(Permission.MANAGE_MERCHANDISING)
@bp.described("getTreeLandingRules", 401, 403, 404)
@bp.response(200, TreeRulesShape)
def tree_rules(tree_id: str) -> dict[str, Any]:
    """The landing rules of every category that has none of its own."""
    return {"rules": stored_rules.tree_of(caller().site_id, lookup_id(tree_id)).default_landing_rules}


@bp.put(TREE_RULES)
@requires_token(Permission.MANAGE_MERCHANDISING)
@bp.described("saveTreeLandingRules", 401, 403, 404, 413, 415)
@bp.arguments(TreeRulesBody, example=RULES_EXAMPLE)
@bp.response(200, TreeRulesShape)
def save_tree_rules(body: dict[str, Any], tree_id: str) -> dict[str, Any]:
    """Save the default rules of a tree: all of them, or none and every problem at once."""
    with transaction():
        return {
            "rules": stored_rules.set_tree_rules(
                calling_author(), lookup_id(tree_id), body["rules"]
            ).default_landing_rules
        }


@bp.get(NODE_RULES)
@requires_token(Permission.MANAGE_MERCHANDISING)
@bp.described("getCategoryLandingRules", 401, 403, 404)
@bp.response(200, NodeRulesShape)
def node_rules(node_id: str) -> dict[str, Any]:
    """The landing rules of a category: whether it inherits the tree's, and those that hold."""
    return _rules_json(stored_rules.node_rules(caller().site_id, lookup_id(node_id)))


@bp.put(NODE_RULES)
@requires_token(Permission.MANAGE_MERCHANDISING)
@bp.described("saveCategoryLandingRules", 401, 403, 404, 413, 415)
@bp.arguments(NodeRulesBody, example=RULES_EXAMPLE)
@bp.response(200, NodeRulesShape)
def save_node_rules(body: dict[str, Any], node_id: str) -> dict[str, Any]:
    """Save a category's own rules, or let it inherit the tree's."""
    with transaction():
        stored_rules.set_node_rules(calling_author(), lookup_id(node_id), body.get("rules"))
        return _rules_json(stored_rules.node_rules(caller().site_id, lookup_id(node_id)))


@bp.get("/nodes/<node_id>/landing-pages")
@requires_token(Permission.MANAGE_MERCHANDISING)
@bp.described("listCategoryLandingPages", 401, 403, 404)
@bp.arguments(PageQuery, location="query")
@bp.response(200, LandingPagesShape)
def landing_pages(query: dict[str, int], node_id: str) -> Paged[dict[str, Any]]:
    """The landing pages that a category has now, by rule, those with most products first. None while search does not
    answer."""
    node = stored_rules.node_of(caller().site_id, lookup_id(node_id))
    shop = read_shop(node.site_id)
    found = ports.landing_directory().of(ports.search_engine(), ports.clock(), shop, shop.tree.nodes[node.id])
    page = Paged.cut(found.pages, query["page_number"], query["page_size"])
    items = [_page_json(landing, shop.primary_host) for landing in page.items]
    return Paged(items, page.page_number, page.page_size, page.total_items)


def _rules_json(rules: NodeRules) -> dict[str, Any]:
    return {"mode": rules.mode.value, "rules": rules.own, "effective_rules": rules.effective}


def _page_json(page: LandingPage, host: str) -> dict[str, Any]:
    return {
        "url": f"https://{host}{page.path}",
        "facet_id": page.facet_id,
        "value": page.value,
        "slug": page.slug,
        "products": page.products,
        "heading": page.heading,
    }
