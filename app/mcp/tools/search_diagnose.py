"""The tool that tests a search."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from pydantic import Field

from app import ports
from app.domain.relevance.advice import Act, Advice, advise_on_search
from app.domain.relevance.explain import explain_search
from app.domain.relevance.explanation import ExplainRequest, SearchExplanation, explanation_json
from app.domain.search.text import MAX_CHARACTERS
from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.typed_times import moment_of, moment_with_zone
from app.domain.sites.sites import currency_of, time_zone_of
from app.mcp.arguments import Answer, Arguments
from app.mcp.registry import Call, tool
from app.mcp.rule_shapes import RuleEffectShape
from app.web.permissions import Permission


class DiagnoseArguments(Arguments):
    query: str = Field(
        default="",
        max_length=MAX_CHARACTERS,
        description="The words as a shopper types them. May be empty where `product` is given. Example: “red tent”.",
    )
    product: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description=(
            "A product whose place in the results, or absence, is to be explained: its SKU, its SEO name or its id."
        ),
    )
    at: str | None = Field(
        default=None,
        description=(
            "As of when rules apply: a time such as “2026-12-24T09:00:00Z”, or without a zone in the shop's own. By "
            "default now. Products and synonyms are those of now."
        ),
    )


class EngineShape(Answer):
    state: str = Field(description="HEALTHY, UNREACHABLE or NOT_SET_UP.")
    error: str | None


class SynonymShape(Answer):
    id: str
    type: str
    root: str | None
    synonyms: list[str]
    typed: str = Field(description="The word of the search that it applies to.")
    finds: list[str] = Field(description="What that word finds besides.")


class SuggestedSynonymShape(SynonymShape):
    found_once_accepted: int | None = Field(description="How many products the search would find then.")


class AppliedRuleShape(RuleEffectShape):
    id: str
    normalized_term: str


class LostEffectShape(Answer):
    effect: str
    to: str = Field(description="The id of the rule that goes before.")


class RankedRuleShape(Answer):
    id: str
    match: str
    term: str
    priority: int
    effects: list[str]
    lost: list[LostEffectShape] = Field(description="What of the rule has no effect, since another rule goes before.")


class ScorePartShape(Answer):
    kind: str = Field(description="What was counted: word, form (another form of the word), alternative, level …")
    field: str | None
    words: list[str] = Field(description="As the product has them.")
    worth: float
    opens: int | None = Field(default=None, description="How often shoppers opened it for this search in nine weeks.")


class MatchShape(Answer):
    field: str
    words: list[str]


class WhyShape(Answer):
    score: float | None = None
    parts: list[ScorePartShape] = Field(default=[], description="What the score is the sum of.")
    placed: str | None = Field(
        default=None, description="pinned, boosted or buried by a rule, or sold_out: last for that reason."
    )
    matches: list[MatchShape] = Field(description="Which fields hold which of the words.")
    missing_words: list[str] = Field(description="Words of the search that it has nowhere.")
    by_meaning_alone: bool = Field(default=False, description="Its meaning finds it; the words do not.")
    would_rank: int | None = Field(default=None, description="Its place if learning from clicks were on.")
    would_add: list[ScorePartShape] = Field(default=[], description="What learning would add to its score.")


class FoundProductShape(WhyShape):
    position: int
    id: str
    sku: str
    name: str
    seo_name: str
    price: int = Field(description="In minor units of `currency`.")


class FoundContentShape(Answer):
    name: str
    path: str
    answers: bool = Field(description="Whether it has all of the words in its name; others only mention some.")


class SimilarProductShape(Answer):
    id: str
    sku: str
    name: str
    seo_name: str
    similarity: float | None = Field(description="How near its meaning is to that of the words: 1 is the same.")


class UnderstoodFilterShape(Answer):
    words: str
    kind: str = Field(description="price, number, size, value, brand or level.")
    facet_id: str
    label: str
    shown: str = Field(description="The filter as shoppers see it, such as “27 in”.")
    value: str | None = None
    from_: float | None = Field(default=None, alias="from", description="Prices in minor units.")
    to: float | None = None


class LeftWordsShape(Answer):
    words: str
    reason: str


class UnderstandingShape(Answer):
    mode: str = Field(description="off, suggested (shoppers apply the filters with a click) or on.")
    outcome: str
    searched: str = Field(description="The words that are searched where the filters are applied.")
    filters: list[UnderstoodFilterShape]
    left_as_words: list[LeftWordsShape]
    was_emptied: bool = Field(description="The filters leave no product, so the words are searched as typed.")


class DiagnosedProductShape(WhyShape):
    id: str | None = None
    sku: str
    name: str | None = None
    seo_name: str | None = None
    in_catalogue: bool
    enabled: bool = Field(description="False: hidden from shoppers.")
    indexed: bool | None = Field(description="Null where search does not answer.")
    rank: int | None = Field(description="Its place in the results, 1 is the first; null where it is not found.")


class NextCallShape(Answer):
    tool: str
    arguments: dict[str, Any] = Field(description="Complete it where something is missing.")


class AdviceShape(Answer):
    code: str
    message: str
    call: NextCallShape | None = Field(description="A call that does it, or shows more; null where people must.")


class DiagnoseAnswer(Answer):
    query: str
    as_of: str | None
    engine: EngineShape
    tokens: list[str] = Field(description="The words that the search was split into, as they are indexed.")
    corrected_to: str | None = Field(description="The spelling that is searched instead.")
    did_you_mean: str | None = Field(description="A spelling that shoppers are offered and that is not searched.")
    synonyms_applied: list[SynonymShape]
    synonyms_suggested: list[SuggestedSynonymShape] = Field(description="Those that would apply once accepted.")
    rule: AppliedRuleShape | None = Field(description="The first of the rules that apply to this search.")
    rules: list[RankedRuleShape] = Field(description="All rules that apply, in the order in which they count.")
    redirect: str | None = Field(description="Where the rule sends shoppers, who do not see the results.")
    found: int | None = Field(description="How many products are found; null where search does not answer.")
    found_by_meaning_alone: int = Field(description="How many of them the words do not find.")
    currency: str
    products: list[FoundProductShape] = Field(description="The first ten, in the order the shop shows them.")
    content: list[FoundContentShape] = Field(
        description="Pages and collections that shoppers see beside. A search that one of them answers found something."
    )
    understanding: UnderstandingShape = Field(description="Prices, sizes, values and brands found in the words.")
    similar: list[SimilarProductShape] = Field(
        description="What shoppers see under few results: it lacks the words and means nearly the same."
    )
    product: DiagnosedProductShape | None = Field(description="The requested product.")
    advice: list[AdviceShape] = Field(description="What to do next, the most pressing first.")


@tool("searchDiagnose", "Test a search", Permission.MANAGE_SEARCH)
def search_diagnose(call: Call, sent: DiagnoseArguments) -> DiagnoseAnswer:
    """Test a search as a shopper makes it: what it finds, what synonyms and rules did, and why each of the first ten
    stands where it does. With a product: whether it is in the catalogue, shown and indexed, its rank, which of the
    words it has and which it lacks. Ends with advice, as calls of other tools where they can do it. Nothing is
    counted or changed."""
    request = ExplainRequest(" ".join(sent.query.split()), " ".join((sent.product or "").split()), _moment(call, sent))
    if request.is_blank:
        raise Invalid.one("required", "Name the words of a search, a product or both.", "#/query")
    explanation = explain_search(ports.clock(), ports.search_engine(), call.site_id, request)
    found = explanation_json(explanation) | {
        "currency": currency_of(call.site_id),
        "advice": [_advice(one, explanation) for one in advise_on_search(explanation)],
    }
    return DiagnoseAnswer.model_validate(found)


def _moment(call: Call, sent: DiagnoseArguments) -> datetime | None:
    """Return the time as of which rules apply, None for now. A time without a zone is in the shop's own. Raises
    Invalid."""
    if sent.at is None:
        return None
    problems: list[Problem] = []
    moment = moment_with_zone(sent.at) or moment_of(sent.at, ZoneInfo(time_zone_of(call.site_id)), "#/at", problems)
    if problems:
        raise Invalid(problems)
    return moment


def _advice(advice: Advice, explanation: SearchExplanation) -> dict[str, Any]:
    return {"code": advice.code, "message": advice.message, "call": _next_call(advice, explanation)}


def _next_call(advice: Advice, found: SearchExplanation) -> dict[str, Any] | None:
    if advice.act not in CALLS:
        return None
    name, arguments_of = CALLS[advice.act]
    given = arguments_of(advice, found).items()
    return {"tool": name, "arguments": {argument: value for argument, value in given if value is not None}}


def _sku(found: SearchExplanation) -> str | None:
    return found.product.sku if found.product else None


def _accepted(advice: Advice, found: SearchExplanation) -> dict[str, Any]:
    pending = next(one for one in found.suggested if one.id == advice.id)
    return {"action": "accept", "id": str(pending.id), "revision": pending.revision}


def _new_rule(_advice: Advice, found: SearchExplanation) -> dict[str, Any]:
    sku = _sku(found)
    return {"action": "pin" if sku else "redirect", "term": found.words, "products": [sku] if sku else None}


def _term(advice: Advice, found: SearchExplanation) -> dict[str, Any]:
    return {"action": "add", "product": _sku(found), "terms": [advice.words]}


CALLS: dict[Act, tuple[str, Callable[[Advice, SearchExplanation], dict[str, Any]]]] = {
    Act.ADD_TERM: ("manageProductSearchTerms", _term),
    Act.CHOOSE_PRODUCT: ("manageProductSearchTerms", _term),
    Act.ACCEPT: ("manageSynonyms", _accepted),
    Act.ADD_SYNONYM: (
        "manageSynonyms",
        lambda advice, found: {"action": "add", "type": "ONE_WAY", "root": advice.words},
    ),
    Act.ADD_RULE: ("manageProductRanking", _new_rule),
    Act.EDIT_RULE: ("productRanking", lambda advice, found: {"action": "rules", "term": found.words}),
    Act.AGAIN: ("searchDiagnose", lambda advice, found: {"query": found.words, "product": _sku(found)}),
}
