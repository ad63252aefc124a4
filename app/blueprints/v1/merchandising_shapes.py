"""Trees of categories and their landing rules on the wire. Rules are read by the domain, which names the place of every
problem."""

from __future__ import annotations

from typing import Any

from marshmallow import ValidationError, fields, validate, validates_schema

from app.blueprints.v1.api import Body, Shape
from app.blueprints.v1.fields import Unread
from app.domain.seo.landing.rules import LONGEST_SEGMENT, LONGEST_TEXT, MOST_OVERRIDES, MOST_RULES, LandingMode
from app.domain.shared.problems import Problem
from app.domain.shared.schema import Flag

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
TEXT = {"maxLength": LONGEST_TEXT}


class OverrideShape(Body):
    value = fields.Str(required=True, metadata=TEXT | {"description": "The value of the facet that this is for."})
    heading = fields.Str(allow_none=True, metadata=TEXT | {"description": "By default `{value} {category}`."})
    meta_title = fields.Str(allow_none=True, metadata=TEXT | {"description": "By default `{heading} | {site}`."})
    meta_description = fields.Str(
        allow_none=True,
        metadata=TEXT | {"description": "By default the intro, else a sentence of heading, site and products."},
    )
    intro = fields.Str(allow_none=True, metadata=TEXT | {"description": "Stands under the heading."})
    excluded = fields.Bool(metadata={"description": "This value never has a page."})


class RuleShape(Body):
    facet_id = fields.Str(required=True, metadata={"description": "`manufacturer`, or an attribute of the taxonomy."})
    path_segment = fields.Str(
        allow_none=True,
        metadata={
            "description": "a–z, 0–9 and single hyphens; by default `brand` for manufacturer, else the facet’s id.",
            "maxLength": LONGEST_SEGMENT,
        },
    )
    min_products = fields.Int(
        allow_none=True,
        metadata={"description": "By default the site’s setting `facet-landing-min-products`.", "minimum": 1},
    )
    overrides = fields.List(fields.Nested(OverrideShape), allow_none=True, metadata={"maxItems": MOST_OVERRIDES})


def _rules(**more: Any) -> Unread:
    return Unread(fields.Nested(RuleShape), **({"metadata": {"maxItems": MOST_RULES}} | more))


class TreeRulesBody(Body):
    rules = _rules(
        required=True, metadata={"description": "An empty list removes the default.", "maxItems": MOST_RULES}
    )


class NodeRulesBody(Body):
    """Either `inherit: true`, or `rules`."""

    inherit = Flag(load_default=False, metadata={"description": "The tree’s default rules hold."})
    rules = _rules(metadata={"description": "An empty list means no landing pages here.", "maxItems": MOST_RULES})

    @validates_schema
    def either_or(self, body: dict[str, Any], **_more: Any) -> None:
        if body.get("inherit", False) == ("rules" in body):
            raise ValidationError([Problem("inherit_or_rules", "Send either inherit: true, or rules.")])


class TreeRulesShape(Shape):
    rules = _rules(required=True)


class NodeRulesShape(Shape):
    mode = fields.Str(required=True, validate=validate.OneOf([mode.value for mode in LandingMode]))
    rules = _rules(required=True, allow_none=True, metadata={"description": "Its own; null where it inherits."})
    effective_rules = _rules(required=True, metadata={"description": "Those that hold."})


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


class ListShape(Shape):
    page_number = fields.Int(required=True)
    page_size = fields.Int(required=True)
    total_items = fields.Int(required=True)
    total_pages = fields.Int(required=True)


class TreesShape(ListShape):
    """A page; past the last one `items` is empty."""

    items = fields.List(fields.Nested(TreeShape), required=True)


class LandingPagesShape(ListShape):
    """A page; past the last one `items` is empty."""

    items = fields.List(fields.Nested(LandingPageShape), required=True)
