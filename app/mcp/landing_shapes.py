"""Landing rules of categories and the pages that follow from them, as tools take and answer them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import Field, GetJsonSchemaHandler, TypeAdapter
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from app import ports
from app.domain.merchandising.shop import Shop, load_tree, read_shop
from app.domain.seo.landing import stored_rules
from app.domain.seo.landing.overview import LandingOverview, landing_overview
from app.domain.seo.landing.pages import LandingPage
from app.domain.seo.landing.rules import (
    OVERRIDE,
    RULE,
    Rule,
    describe_move,
    facet_choices,
    moved_segments,
)
from app.domain.seo.landing.stored_rules import NodeRules
from app.domain.seo.redirects.moved_addresses import redirects_by_default
from app.domain.shared.paging import Paged
from app.mcp.arguments import Answer, answer_of


class OverrideShape(answer_of(OVERRIDE)):  # type: ignore[misc]
    pass


class LandingRuleShape(answer_of(RULE, overrides=OverrideShape)):  # type: ignore[misc]
    pass


class SentRules:
    """Marks a list that the domain reads, so that it names every problem at once; agents are shown its schema."""

    def __get_pydantic_json_schema__(self, _schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(TypeAdapter(list[LandingRuleShape]).core_schema)


class LandingPageShape(Answer):
    url: str
    facet_id: str
    value: str
    slug: str
    products: int
    heading: str


class FacetShape(Answer):
    facet_id: str
    name: str


class LandingBeforeShape(Answer):
    mode: str = Field(
        description="inherit: the tree's default rules hold; off: no landing pages here; own: the category's own rules."
    )
    rules: list[LandingRuleShape] | None = Field(description="The category's own; null where it inherits.")


class LandingShape(LandingBeforeShape):
    category_id: str
    name: str
    path: str = Field(description="The category's address is /c/ and this.")
    tree: str
    effective_rules: list[LandingRuleShape] = Field(description="Those that hold.")
    pages: list[LandingPageShape] = Field(description="A page of the landing pages that follow, most products first.")
    warnings: list[str] = Field(description="Why rules or values have no pages.")
    facets: list[FacetShape] = Field(description="What a rule can be for: the category's brand and filters.")


def landing_before(known: NodeRules) -> LandingBeforeShape:
    """Return the landing rules from before a change. To be read before the rules are changed."""
    return LandingBeforeShape(mode=known.mode.value, rules=None if known.own is None else _rules(known.own))


def landing_shape(site_id: int, category_id: int, page_number: int, page_size: int) -> tuple[LandingShape, Paged[Any]]:
    """The rules of a category with a page of its landing pages. Raises NotFound."""
    known, shop = stored_rules.node_rules(site_id, category_id), read_shop(site_id)
    found = _overview(shop, category_id)
    page = Paged.cut(found.pages, page_number, page_size)
    choices, own = facet_choices(shop, shop.tree.facets(category_id)), landing_before(known)
    shape = LandingShape(
        category_id=str(category_id),
        name=known.node.name,
        path=known.node.path,
        tree=stored_rules.tree_of(site_id, known.node.tree_id).name,
        mode=own.mode,
        rules=own.rules,
        effective_rules=_rules(known.effective),
        pages=[_page(each, shop.primary_host) for each in page.items],
        warnings=_warnings(found),
        facets=[FacetShape(facet_id=facet_id, name=name) for facet_id, name in choices.shown.items()],
    )
    return shape, page


def moved_pages(site_id: int, category_id: int, before: Sequence[Rule]) -> list[str]:
    """Describe the moves of landing pages' addresses, where the rules that were in force `before` have changed."""
    known = stored_rules.node_rules(site_id, category_id)
    is_browsed = load_tree(site_id).primary_tree_id == known.node.tree_id
    moved = moved_segments(before, known.effective) if is_browsed else []
    redirected = redirects_by_default(site_id)
    return [describe_move(f"/c/{known.node.path}", old, new, redirected=redirected) for old, new in moved]


def _overview(shop: Shop, category_id: int) -> LandingOverview:
    node = shop.tree.nodes[category_id]
    return landing_overview(ports.landing_directory(), ports.search_engine(), ports.clock(), shop, node, None)


def _rules(rules: Sequence[Rule]) -> list[LandingRuleShape]:
    return [LandingRuleShape.model_validate(rule) for rule in rules]


def _page(page: LandingPage, host: str) -> LandingPageShape:
    return LandingPageShape(
        url=f"https://{host}{page.path}",
        facet_id=page.facet_id,
        value=page.value,
        slug=page.slug,
        products=page.products,
        heading=page.heading,
    )


def _warnings(found: LandingOverview) -> list[str]:
    obstacle = [found.obstacle] if found.obstacle else []
    uncounted = ["Search does not answer, so no pages can be counted."] if _is_uncounted(found) else []
    return [*obstacle, *uncounted, *found.ignored, *(warning.message for warning in found.warnings)]


def _is_uncounted(found: LandingOverview) -> bool:
    return any(rule.rows is None for rule in found.rules)
