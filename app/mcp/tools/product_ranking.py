"""The tool that reads search rules and landing rules."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from app import ports
from app.domain.merchandising.categories import category_referred_to
from app.domain.relevance import rules as listing
from app.domain.relevance.rules import RuleQuery, StateFilter, rule_for
from app.domain.search.serving.configuration import serving_state
from app.domain.search.serving.term_index import Match
from app.mcp.arguments import Answer, Arguments, PageNumber, PageSize, PagingShape, paging_of
from app.mcp.landing_shapes import LandingShape, landing_shape
from app.mcp.registry import Call, reads, tool
from app.mcp.rule_shapes import RuleShape, rule_shape
from app.web.permissions import Permission

CATEGORY = (
    "The category: its id, its path or its name. Where several categories have the name, the error lists them with "
    "their ids. Examples: “12”, “camping/tents”, “Tents”."
)


class ProductRankingArguments(Arguments):
    action: Literal["rules", "landing"] = Field(
        description=(
            "rules (takes term, or words, state, pageNumber and pageSize): answer search rules, which pin, boost or "
            "bury products for a search, lead it to a page or put a banner above its results. With term the rules "
            "of exactly that term, each of another match, else a list. "
            "landing (needs category, takes pageNumber and pageSize): answer the landing rules of the category, how it "
            "comes by them, and the landing pages it has now."
        )
    )
    term: str | None = Field(
        default=None,
        max_length=200,
        description="For rules: the search; case and spacing do not matter. Example: “rain coat”.",
    )
    words: str | None = Field(
        default=None,
        max_length=200,
        description="For rules: only rules with this in the term, the note, the redirect, the banner or a SKU.",
    )
    state: Literal["live", "paused", "scheduled", "ended", "unsynced"] | None = Field(
        default=None, description="For rules: only those in this state; unsynced: not yet as shoppers are served them."
    )
    category: str | None = Field(default=None, min_length=1, max_length=1_000, description=f"For landing. {CATEGORY}")
    page_number: PageNumber = 1
    page_size: PageSize = 50


class ProductRankingAnswer(Answer):
    rules: list[RuleShape] = Field(description="For rules; none where no rule fits.")
    landing: LandingShape | None = Field(description="For landing.")
    paging: PagingShape = Field(description="Of the rules, or of the landing pages.")


@tool(
    "productRanking",
    "Search rules and landing pages",
    Permission.MANAGE_SEARCH,
    {
        "rules": reads(takes=("term", "words", "state", "pageNumber", "pageSize")),
        "landing": reads("category", takes=("pageNumber", "pageSize"), permission=Permission.MANAGE_MERCHANDISING),
    },
)
def product_ranking(call: Call, sent: ProductRankingArguments) -> ProductRankingAnswer:
    """Read what decides the order of products: the rules of single searches, and which values of a category (a brand, a
    colour) have landing pages of their own. Changes nothing; manageProductRanking does. For why a search finds what it
    finds use searchDiagnose."""
    if sent.action == "landing":
        category_id = category_referred_to(call.site_id, sent.category or "")
        landing, page = landing_shape(call.site_id, category_id, sent.page_number, sent.page_size)
        return ProductRankingAnswer(rules=[], landing=landing, paging=paging_of(page))
    return _one(call, sent.term) if sent.term else _listed(call, sent)


def _one(call: Call, term: str) -> ProductRankingAnswer:
    found = (rule_for(call.site_id, term, match) for match in Match)
    state, now = serving_state(call.site_id), ports.clock().now()
    rules = [rule_shape(rule, state, now) for rule in found if rule is not None]
    paging = PagingShape(page_number=1, page_size=1, total_items=len(rules), total_pages=len(rules))
    return ProductRankingAnswer(rules=rules, landing=None, paging=paging)


def _listed(call: Call, sent: ProductRankingArguments) -> ProductRankingAnswer:
    now = ports.clock().now()
    query = RuleQuery(
        words=" ".join((sent.words or "").split()),
        narrowed=StateFilter(sent.state or ""),
        page=sent.page_number,
        page_size=sent.page_size,
    )
    page = listing.find_rules(call.site_id, query, now).page
    state = serving_state(call.site_id)
    rules = [rule_shape(row.rule, state, now) for row in page.items]
    return ProductRankingAnswer(rules=rules, landing=None, paging=paging_of(page))
