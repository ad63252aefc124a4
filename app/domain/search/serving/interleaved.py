"""A search answered in an order that is interleaved from what shoppers are served and from a candidate.

The first DEPTH places are drafted from both answers, but for those of pins that both have alike, and of pins of the
present answer that would be left out: these products stay where they are pinned, and belong to neither side. A later
page must go on where the first ended: the drafted products are pinned to their places of the present answer, so the
engine lists every other product once, behind them, in the present order, and its totals and counts are of all that the
pages show.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count, repeat

from app.domain.search.engine import IndexName, Pin, Searching, SearchRequest, SearchResult
from app.domain.search.ranking.interleaving import DEPTH, DraftKey, Pick, Side, draft
from app.domain.search.serving.plan import Plan, Served, plan
from app.domain.search.serving.query import Answered, search_many_products, search_products

# What of a request decides which products it finds.
FINDING = ("words", "scope", "alternatives", "optional", "by_meaning", "pins")
Orders = tuple[Sequence[str], Sequence[str]]  # The first ids of the present answer and of the candidate's.


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
    orders = _ids(ours.result)[:depth], _ids(others.result)[:depth]
    fixed = _fixed(ours.request, others.request, orders, depth)
    picks = _draft(orders, fixed, depth, contest.key.coins(planned.words))
    if is_first and _find_alike(ours, others):
        result = _with_draft(ours.result, others.result, picks, fixed)
    else:
        result = engine.search(site_id, IndexName.PRODUCTS, _pinned(ours.request, request, picks, fixed))
    return Interleaved(result, _sides(result, picks, depth) if is_first else ())


def are_alike(ours: Plan, theirs: Plan) -> bool:
    """Whether two plans of the same words order alike."""
    names = ("rules", "expansion", "ranking", "learned", "by_meaning")
    return all(getattr(ours, name) == getattr(theirs, name) for name in names)


def _is_in_doubt(result: SearchResult) -> bool:
    return result.corrected or result.lacks_meaning


def _ids(result: SearchResult) -> Sequence[str]:
    return [hit.id for hit in result.hits]


def _find_alike(ours: Answered, others: Answered) -> bool:
    """Whether two answers are of the same products, in different orders."""
    is_alike = all(getattr(ours.request, name) == getattr(others.request, name) for name in FINDING)
    return is_alike and ours.result.total == others.result.total


def _positions(request: SearchRequest) -> Mapping[str, int]:
    """Return the positions of the pinned products by their ids. Of two positions the first counts, as in an engine."""
    positions: dict[str, int] = {}
    for pin in request.pins:
        positions.setdefault(pin.id, pin.position)
    return positions


def _fixed(ours: SearchRequest, others: SearchRequest, orders: Orders, depth: int) -> Mapping[str, int]:
    """Return the positions of the products that stay outside of the draft: those that both requests pin alike, and
    those that the present one pins among the first and the draft may leave out. Coins do not decide which, so that they
    favour neither side. A product that should stand among the first of the present answer and does not is none of its
    products."""
    pinned, theirs, present = _positions(ours), _positions(others), set(orders[0])
    first = {id: position for id, position in pinned.items() if position <= depth and id in present}
    fixed = {id: position for id, position in pinned.items() if position > depth or id in first}
    fixed = {id: position for id, position in fixed.items() if theirs.get(id) == position}
    while True:
        drafts = [_draft(orders, fixed, depth, repeat(coin)) for coin in (True, False)]
        sure = set.intersection(*({pick.id for pick in picks} for picks in drafts))
        left = [id for id in first if id not in sure and id not in fixed]
        if not left:
            return fixed
        fixed[left[0]] = first[left[0]]


def _draft(orders: Orders, fixed: Mapping[str, int], depth: int, coins: Iterator[bool]) -> Sequence[Pick]:
    """Return the draft for those of the first places that are not `fixed`."""
    free = depth - sum(position <= depth for position in fixed.values())
    present, candidate = ([id for id in ids if id not in fixed] for ids in orders)
    return draft(present, candidate, free, coins)


def _with_draft(
    ours: SearchResult, theirs: SearchResult, picks: Sequence[Pick], fixed: Collection[str]
) -> SearchResult:
    """Return the first page of the present result with the drafted hits before its others; those that are `fixed` stay
    in their places. Both found the same products, so totals and counts stay."""
    hits = {hit.id: hit for hit in (*theirs.hits, *ours.hits)}
    drafted = [pick.id for pick in picks]
    order = iter([*drafted, *(hit.id for hit in ours.hits if hit.id not in {*drafted, *fixed})])
    shown = tuple(hit if hit.id in fixed else hits[next(order)] for hit in ours.hits)
    similar = tuple(hit for hit in ours.similar if hit.id not in hits)
    return replace(ours, hits=shown, similar=similar)


def _pinned(
    ours: SearchRequest, wanted: SearchRequest, picks: Sequence[Pick], fixed: Mapping[str, int]
) -> SearchRequest:
    """Return the present request, as the engine answered it, for the wanted page behind the drafted products."""
    taken = set(fixed.values())
    free = (place for place in count(1) if place not in taken)
    places = {pick.id: place for pick, place in zip(picks, free, strict=False)}
    return replace(
        ours,
        page=wanted.page,
        per_page=wanted.per_page,
        facets=wanted.facets,
        range_facets=wanted.range_facets,
        similar_below=wanted.similar_below,
        pins=tuple(Pin(id, place) for id, place in {**_positions(ours), **fixed, **places}.items()),
    )


def _sides(result: SearchResult, picks: Sequence[Pick], depth: int) -> tuple[Side | None, ...]:
    """Return the sides of the first hits of a first page; None for one that no draft placed."""
    sides = {pick.id: pick.side for pick in picks}
    return tuple(sides.get(hit.id) for hit in result.hits[:depth])
