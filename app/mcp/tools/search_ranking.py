"""The tool of what ranks all searches: the ranking settings, what was learned from clicks, and comparisons of rankings
on shoppers."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from app import ports
from app.domain.catalogue.listing import LONGEST_WORDS
from app.domain.relevance import learned_searches, ranking_comparisons
from app.domain.relevance.proposals import RankingProposal
from app.domain.search import settings
from app.domain.search.ranking_settings import PAGE, RANKING, RankingSettings, of_json, ranking_of, stored_form
from app.domain.shared.problems import Invalid, Problem
from app.domain.sites.settings import settings_of
from app.mcp.arguments import (
    Answer,
    DryRun,
    PageNumber,
    PagingShape,
    WriteArguments,
    answer_of,
    arguments_of,
    paging_of,
)
from app.mcp.registry import UNDO, Call, reads, tool, undo_address, writes
from app.mcp.rule_shapes import PreviewShape, preview
from app.web.permissions import Permission

TAKEN = tuple(RANKING.fields)
FIELDS = {setting.name for setting in PAGE.settings}
ALL_TAKEN = f"{', '.join(TAKEN[:-1])} and {TAKEN[-1]}"


class RankingAction(WriteArguments):
    action: Literal["settings", "set", "learned", "comparisons"] = Field(
        description=(
            f"settings: answer the ranking settings, and whether search learns from clicks. set (takes {ALL_TAKEN}, at "
            "least one): change these ranking settings and leave the others; a dry run previews the first ten of the "
            "most frequent searches. learned (takes words and pageNumber): answer the searches for which clicks taught "
            "something, with what each moves up and the evidence. comparisons: answer the comparison of rankings that "
            "runs on shoppers, and the earlier ones, with the clicks of each side and the verdict; people start them "
            "in the admin."
        )
    )


class SearchRankingArguments(arguments_of(RANKING, RankingAction, "For set: ")):  # type: ignore[misc]
    words: str | None = Field(
        default=None, max_length=LONGEST_WORDS, description="For learned: only searches with this."
    )
    page_number: PageNumber = 1


class RankingShape(answer_of(RANKING)):  # type: ignore[misc]
    pass


class LearningShape(Answer):
    mode: str = Field(
        description="off, shadow (only previews see it) or on. People switch it in the settings of search."
    )
    served_since: str | None = Field(description="Since when shoppers are served it.")
    learned_at: str | None
    forgotten: list[str] = Field(description="Searches that were made to forget; “*” is all of them.")


class LearnedProductShape(Answer):
    sku: str | None = Field(description="Null for a product that is gone.")
    name: str | None
    factor: float = Field(description="The product's score for the search is multiplied by it, 1.5 at most.")
    opens: int = Field(description="How often shoppers opened it from the search in nine weeks.")
    bought: int


class LearnedLevelShape(Answer):
    level_id: str
    name: str
    factor: float = Field(description="The scores of the level's products are multiplied by it, 1.2 at most.")
    opens: int


class LearnedSearchShape(Answer):
    query: str
    opens: int
    products: list[LearnedProductShape]
    levels: list[LearnedLevelShape]


class WinsShape(Answer):
    present: int = Field(description="First clicks on products that the present ranking placed.")
    candidate: int
    ties: int = Field(description="First clicks on products of neither side, which decide nothing.")


class IntervalShape(Answer):
    low: float
    high: float


class ComparisonShape(Answer):
    id: str
    summary: str = Field(description="The candidate in a few words.")
    share: int = Field(description="Percent of visits that see both rankings interleaved.")
    started_at: str
    last_day: str
    ended_at: str | None = Field(description="Null while it runs.")
    ending: str | None = Field(description="enough (clicks), early, period, stopped (by hand) or changed.")
    wins: WinsShape
    interval: IntervalShape = Field(description="Where the candidate's share of decisive clicks lies, from 0 to 1.")
    verdict: str | None = Field(description="better, worse or undecided; null while it runs.")
    days_left: int | None = Field(description="Until there are enough clicks, at the present rate.")


class SearchRankingAnswer(Answer):
    ranking: RankingShape
    learning: LearningShape
    searches: list[LearnedSearchShape] = Field(description="For learned: those with the most evidence first.")
    paging: PagingShape | None = Field(description="For learned.")
    comparisons: list[ComparisonShape] = Field(description="For comparisons: the one that runs first, then the latest.")
    changed: bool
    preview: PreviewShape | None = Field(description="With dryRun: what shoppers would find, before and after.")
    undo: str | None = Field(description=UNDO)
    dry_run: DryRun


@tool(
    "searchRanking",
    "Ranking of all searches",
    Permission.MANAGE_SEARCH,
    {
        "settings": reads(),
        "set": writes(takes=TAKEN),
        "learned": reads(takes=("words", "pageNumber")),
        "comparisons": reads(),
    },
)
def search_ranking(call: Call, sent: SearchRankingArguments) -> SearchRankingAnswer:
    """Read and change how much sales, newness and stock count in all searches and where sold-out products stand, and
    read what search learned from clicks and which of two rankings shoppers chose. The weights raise scores within
    bounds: what the words say counts most. For one search use manageProductRanking."""
    stored = ranking_of(settings_of(call.site_id))
    if sent.action == "set":
        return _set(call, stored, sent)
    if sent.action == "learned":
        return _learned(call, stored, sent)
    if sent.action == "comparisons":
        return _answer(call, stored, comparisons=_comparisons(call.site_id))
    return _answer(call, stored)


def _set(call: Call, stored: RankingSettings, sent: SearchRankingArguments) -> SearchRankingAnswer:
    fields = sent.model_dump(by_alias=True, include=FIELDS, exclude_none=True)
    if not fields:
        raise Invalid([Problem("required", f"“set” needs at least one of {ALL_TAKEN}.", "#")])
    wanted = of_json(stored.as_json() | fields)
    tried = preview(call.site_id, RankingProposal(wanted)) if call.dry_run else None
    changed = bool(settings.change_ranking(call.author, stored_form(wanted)).changed)
    undo = undo_address(call, "settings", "search") if changed else None
    return _answer(call, wanted, changed=changed, preview=tried, undo=undo)


def _learned(call: Call, stored: RankingSettings, sent: SearchRankingArguments) -> SearchRankingAnswer:
    rows = learned_searches.learned_rows(call.site_id, sent.page_number, " ".join((sent.words or "").split()))
    searches = [_search_shape(row) for row in rows.items]
    return _answer(call, stored, searches=searches, paging=paging_of(rows))


def _comparisons(site_id: int) -> list[ComparisonShape]:
    running = ranking_comparisons.running_comparison(ports.clock(), site_id)
    ended = ranking_comparisons.ended_comparisons(ports.clock(), site_id)
    reports = [*([running] if running else []), *ended]
    return [ComparisonShape.model_validate(report.result_json()) for report in reports]


def _answer(call: Call, ranking: RankingSettings, **more: Any) -> SearchRankingAnswer:
    state = learned_searches.state_json(learned_searches.learning_state(call.site_id))
    forgotten = [one["query"] or "*" for one in state["forgotten"]]
    nothing: dict[str, Any] = {"searches": [], "paging": None, "changed": False, "preview": None, "undo": None}
    nothing |= {"comparisons": []}
    return SearchRankingAnswer(
        ranking=RankingShape.model_validate(ranking.as_json()),
        learning=LearningShape.model_validate(state | {"forgotten": forgotten}),
        dry_run=call.dry_run,
        **nothing | more,
    )


def _search_shape(row: learned_searches.LearnedRow) -> LearnedSearchShape:
    products = [
        LearnedProductShape(
            sku=one.sku, name=one.name, factor=one.learned.factor, opens=one.learned.opens, bought=one.learned.bought
        )
        for one in row.products
    ]
    levels = [
        LearnedLevelShape(
            level_id=one.learned.level_id, name=one.name, factor=one.learned.factor, opens=one.learned.opens
        )
        for one in row.levels
    ]
    return LearnedSearchShape(query=row.word, opens=row.opens, products=products, levels=levels)
