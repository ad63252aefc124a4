"""A search answered in an order that is interleaved from what shoppers are served and from a candidate.

The first DEPTH places are drafted from both answers. A later page must go on where the first ended: the drafted
products are pinned to their places of the present answer, so the engine lists every other product once, behind them, in
the present order, and its totals and counts are of all that the pages show.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from app.domain.search.engine import IndexName, Pin, Searching, SearchRequest, SearchResult
from app.domain.search.ranking.interleaving import DEPTH, DraftKey, Pick, Side, draft
from app.domain.search.serving.plan import Plan, Served, plan
from app.domain.search.serving.query import search_many_products, search_products


@dataclass(frozen=True, slots=True)
class Contest:
    """A comparison in which a search takes part: the candidate's serving configuration, and the key of the draft. An
    address that `continues` a draft has its key from the first page."""

    key: DraftKey
    candidate: Served
    continues: bool = False


@dataclass(frozen=True, slots=True)
class Interleaved:
    """A result, and the sides of its first products in their order; None for `sides` where it is not interleaved."""

    result: SearchResult
    sides: tuple[Side | None, ...] | None = None


def search_interleaved(
    engine: Searching,
    site_id: int,
    request: SearchRequest,
    planned: Plan,
    stop_words: frozenset[str],
    contest: Contest | None,
    now: datetime,
) -> Interleaved:
    """Return the page of a search, interleaved where there is a contest and the candidate plans it otherwise. It is not
    where another spelling is searched, nor where the meaning of the words is not known in time. Raises
    SearchUnavailable."""
    theirs = plan(planned.words, contest.candidate, now, redirects=False) if contest is not None else planned
    if contest is None or are_alike(planned, theirs):
        return Interleaved(search_products(engine, site_id, request, planned, stop_words).result)
    is_first = request.page == 1
    depth = min(DEPTH, request.per_page)
    request = replace(request, patient=request.patient or contest.continues)
    top = replace(request, page=1, per_page=depth, facets=(), range_facets=(), similar_below=0)
    searches = [(request if is_first else top, planned), (top, theirs)]
    ours, others = search_many_products(engine, site_id, searches, stop_words)
    if _is_in_doubt(ours.result) or _is_in_doubt(others.result):
        plain = ours if is_first else search_products(engine, site_id, request, planned, stop_words)
        return Interleaved(plain.result)
    picks = draft(_ids(ours.result), _ids(others.result), depth, contest.key.coins(planned.words))
    sides = tuple(pick.side for pick in picks)
    if is_first and ours.result.total == others.result.total and ours.request.pins == others.request.pins:
        return Interleaved(_with_draft(ours.result, others.result, picks, request.per_page), sides)
    result = engine.search(site_id, IndexName.PRODUCTS, _pinned(ours.request, request, picks))
    return Interleaved(result, sides if is_first else ())


def are_alike(ours: Plan, theirs: Plan) -> bool:
    """Whether two plans of the same words order alike."""
    names = ("rules", "expansion", "ranking", "learned", "by_meaning")
    return all(getattr(ours, name) == getattr(theirs, name) for name in names)


def _is_in_doubt(result: SearchResult) -> bool:
    return result.corrected or result.lacks_meaning


def _ids(result: SearchResult) -> Sequence[str]:
    return [hit.id for hit in result.hits]


def _with_draft(ours: SearchResult, theirs: SearchResult, picks: Sequence[Pick], per_page: int) -> SearchResult:
    """Return the first page of the present result with the drafted hits before its others. Both found the same
    products, so totals and counts stay."""
    hits = {hit.id: hit for hit in (*theirs.hits, *ours.hits)}
    drafted = [pick.id for pick in picks]
    rest = [hit.id for hit in ours.hits if hit.id not in set(drafted)]
    similar = tuple(hit for hit in ours.similar if hit.id not in hits)
    return replace(ours, hits=tuple(hits[id] for id in [*drafted, *rest][:per_page]), similar=similar)


def _pinned(ours: SearchRequest, wanted: SearchRequest, picks: Sequence[Pick]) -> SearchRequest:
    """Return the present request, as the engine answered it, for the wanted page behind the drafted products."""
    drafted = {pick.id for pick in picks}
    first = [Pin(pick.id, position) for position, pick in enumerate(picks, 1)]
    behind = [pin for pin in ours.pins if pin.position > len(first) and pin.id not in drafted]
    return replace(
        ours,
        page=wanted.page,
        per_page=wanted.per_page,
        facets=wanted.facets,
        range_facets=wanted.range_facets,
        similar_below=wanted.similar_below,
        pins=(*first, *behind),
    )
