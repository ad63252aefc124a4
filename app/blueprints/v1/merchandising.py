"""Trees of categories and their landing pages for other programs: the same use cases as the admin's own. Rules are read
by the domain, which names the place of every problem."""

from __future__ import annotations

from typing import Any

from flask import request
from marshmallow import ValidationError, fields, validate, validates_schema

from app import ports
from app.blueprints.json_body import LARGEST_RULES
from app.blueprints.v1.api import ApiBlueprint, Body, ListShape, PageQuery, Shape, Unread, body_of
from app.blueprints.v1.callers import caller, calling_author, requires_token
from app.domain.merchandising.shop import read_shop
from app.domain.merchandising.trees import ListedTree, nested_trees
from app.domain.seo.landing import stored_rules
from app.domain.seo.landing.pages import LandingPage
from app.domain.seo.landing.rules import MOST_RULES, OVERRIDE, RULE, LandingMode
from app.domain.seo.landing.stored_rules import NodeRules
from app.domain.shared.addresses import lookup_id
from app.domain.shared.paging import Paged
from app.domain.shared.problems import Problem
from app.domain.shared.schema import Flag
from app.transaction import transaction
from app.web.permissions import Permission

RULES_EXAMPLE: dict[str, Any] = {
    "rules": [
        {
            "facetId": "manufacturer",
            "pathSegment": "brand",
            "minProducts": 3,
            "overrides": [{"value": "Fell & Fern", "heading": "Tents by Fell & Fern", "intro": "Made for rain."}],
        }
    ]
}
bp = ApiBlueprint("v1_merchandising", __name__, url_prefix="/v1/admin/merchandising", tag="Merchandising")
NODE_RULES = "/nodes/<node_id>/landing-rules"
TREE_RULES = "/trees/<tree_id>/landing-rules"


class OverrideShape(body_of(OVERRIDE)):  # type: ignore[misc]
    pass


class RuleShape(body_of(RULE, overrides=OverrideShape)):  # type: ignore[misc]
    pass


def _rules_field(**more: Any) -> Unread:
    return Unread(fields.Nested(RuleShape), **({"metadata": {"maxItems": MOST_RULES}} | more))


class TreeRulesBody(Body):
    rules = _rules_field(
        required=True, metadata={"description": "An empty list removes the default.", "maxItems": MOST_RULES}
    )


class NodeRulesBody(Body):
    """Either `inherit: true`, or `rules`."""

    inherit = Flag(load_default=False, metadata={"description": "The tree’s default rules hold."})
    rules = _rules_field(metadata={"description": "An empty list means no landing pages here.", "maxItems": MOST_RULES})

    @validates_schema
    def either_or(self, body: dict[str, Any], **_more: Any) -> None:
        if body.get("inherit", False) == ("rules" in body):
            raise ValidationError([Problem("inherit_or_rules", "Send either inherit: true, or rules.")])


class TreeRulesShape(Shape):
    rules = _rules_field(required=True)


class NodeRulesShape(Shape):
    mode = fields.Str(required=True, validate=validate.OneOf([mode.value for mode in LandingMode]))
    rules = _rules_field(required=True, allow_none=True, metadata={"description": "Its own; null where it inherits."})
    effective_rules = _rules_field(required=True, metadata={"description": "Those that hold."})


class NodeShape(Shape):
    id = fields.Str(required=True)
    name = fields.Str(required=True)
    path = fields.Str(required=True, metadata={"description": "Its address is `/c/` and this."})
    visible = fields.Bool(required=True)
    children = fields.List(fields.Nested(lambda: NodeShape()), required=True)


class TreeShape(Shape):
    id = fields.Str(required=True)
    name = fields.Str(required=True)
    primary = fields.Bool(required=True, metadata={"description": "Shoppers browse this tree."})
    nodes = fields.List(fields.Nested(NodeShape), required=True)


class LandingPageShape(Shape):
    url = fields.Str(required=True, metadata={"format": "uri"})
    facet_id = fields.Str(required=True)
    value = fields.Str(required=True)
    slug = fields.Str(required=True)
    products = fields.Int(required=True)
    heading = fields.Str(required=True)


class TreesShape(ListShape):
    """A page; past the last one `items` is empty."""

    items = fields.List(fields.Nested(TreeShape), required=True)


class LandingPagesShape(ListShape):
    """A page; past the last one `items` is empty."""

    items = fields.List(fields.Nested(LandingPageShape), required=True)


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
