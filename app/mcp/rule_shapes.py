"""Search rules, and what a change of search would do, as tools answer them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field

from app import ports
from app.domain.relevance.comparison import Comparison, comparison_json
from app.domain.relevance.models import SearchRule
from app.domain.relevance.previews import preview_change
from app.domain.relevance.proposals import Proposal
from app.domain.relevance.rule_definition import state_of
from app.domain.search.engine import SearchUnavailable
from app.domain.search.models import ServedConfiguration
from app.domain.search.serving import configuration
from app.domain.search.serving.rules import Rule
from app.domain.shared.record_fields import fields_of
from app.mcp.arguments import Answer
from app.mcp.record_shapes import answers_fields


class PinShape(Answer):
    sku: str
    position: int


class BannerShape(Answer):
    text: str
    link_url: str | None


class AttributeConditionShape(Answer):
    """Any of the values or, of a number, the range, of which either end may be open."""

    id: str
    values: list[str] = []
    low: float | None = Field(default=None, alias="from")
    high: float | None = Field(default=None, alias="to")


class GroupShape(Answer):
    """Products that meet all of the conditions that are set."""

    manufacturers: list[str] = []
    levels: list[str] = []
    attributes: list[AttributeConditionShape] = []
    price_from: int | None = None
    price_to: int | None = None
    stock: str | None = None
    new_days: int | None = None
    on_sale: bool = False


SHAPES = {
    "pins": list[PinShape],
    "banner": BannerShape | None,
    "boost_groups": list[GroupShape],
    "bury_groups": list[GroupShape],
}


@answers_fields((field for field in fields_of(Rule) if field.is_served), SHAPES)
class RuleEffectShape(Answer):
    pass


@answers_fields(field for field in fields_of(Rule) if not field.is_served)
class RuleFieldsShape(RuleEffectShape):
    pass


class RuleShape(RuleFieldsShape):
    id: str | None = Field(description="Null for one that a dry run only tried to make.")
    normalized_term: str = Field(description="The term as searches are compared with it: case and spacing folded.")
    state: str = Field(description="live, paused, scheduled or ended.")
    synced: bool = Field(
        description="Whether shoppers have it as it is here; a change reaches them within two seconds."
    )
    revision: int = Field(description="Send it with a change, which is then refused where somebody changed the rule.")
    updated_by: str
    updated_at: str


class SideProductShape(Answer):
    sku: str
    name: str
    mark: str = Field(description="same, up, down or new after the change; gone before it.")
    steps: int = Field(description="By how many places it moves.")


class SideShape(Answer):
    found: int
    redirect_url: str | None
    banner: BannerShape | None
    products: list[SideProductShape] = Field(description="The first ten.")


class ComparisonShape(Answer):
    query: str
    changed: bool
    summary: str
    before: SideShape
    after: SideShape


class PreviewShape(Answer):
    """`note` says why the change does nothing, or why it cannot be previewed."""

    searches: list[ComparisonShape]
    note: str
    judgement: str | None = Field(
        default=None,
        description="What the change does to the judgement list that the shop judges previews by; null without one.",
    )


def rule_shape(rule: SearchRule, state: ServedConfiguration | None, now: datetime) -> RuleShape:
    synced = configuration.is_live(rule, state)
    return RuleShape.model_validate(rule.as_json(synced) | {"state": state_of(rule, now).value})


def preview(site_id: int, proposal: Proposal) -> PreviewShape:
    """Return the first ten results of shoppers before and after the change."""
    try:
        tried = preview_change(ports.search_engine(), ports.clock(), site_id, proposal)
    except SearchUnavailable as unavailable:
        return PreviewShape(searches=[], note=unavailable.message)
    judgement = tried.judgement.sentence if tried.judgement is not None else None
    return PreviewShape(
        searches=[_comparison(each) for each in tried.comparisons], note=tried.note, judgement=judgement
    )


def _comparison(comparison: Comparison) -> ComparisonShape:
    found: dict[str, Any] = comparison_json(comparison) | {"summary": comparison.summary}
    return ComparisonShape.model_validate(found)
