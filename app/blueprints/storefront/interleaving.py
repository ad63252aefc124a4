"""Comparisons of rankings on real shoppers: which searches take part, and in which order. Only those of shoppers do,
never those of robots or of staff; pages of searches are private to a browser meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from secrets import randbelow

from flask import Response, current_app, g, request

from app import ports
from app.blueprints.storefront.attribution import is_a_shopper, visit_seed
from app.blueprints.storefront.blueprint import RUNNING_COMPARISONS
from app.domain.merchandising.shop import Shop
from app.domain.relevance.running_comparisons import RunningComparison, RunningComparisons
from app.domain.search.engine import Sort
from app.domain.search.listings.listing import ListingRequest
from app.domain.search.ranking.interleaving import SEEDS, DraftKey, Side, is_included, may_hold_code
from app.domain.search.serving.interleaved import Contest
from app.domain.search.serving.plan import Served
from app.domain.search.settings import CLICKS, TRACKING
from app.domain.search_statistics.counting.attribution import NOT_COMPARED, Compared
from app.domain.search_statistics.counting.days import day_at


@dataclass(frozen=True, slots=True)
class Participation:
    """How a visit takes part while a comparison runs: with its seed, and for the searches in its share a contest."""

    seed: int
    contest: Contest | None = None


def participation(shop: Shop, listing_request: ListingRequest, served: Served) -> Participation | None:
    """Return how a search takes part in the comparison that runs; None where none does, or it is no search of a
    shopper whose clicks are counted."""
    comparisons: RunningComparisons = current_app.extensions[RUNNING_COMPARISONS]
    today = day_at(ports.clock().now(), shop.time_zone)
    running = comparisons.of(shop.site_id, shop.version, today)
    if running is None or not _is_comparable(shop, listing_request):
        return None
    g.differs_by_shopper = True
    if not is_a_shopper():
        return None
    seed = visit_seed(shop)
    seed = randbelow(SEEDS) if seed is None else seed
    candidate = comparisons.candidate(running, served)
    key = _key(running, listing_request, seed)
    if candidate is None or key is None:
        return Participation(seed)
    return Participation(seed, Contest(key, candidate, continues=listing_request.draft is not None))


def _is_comparable(shop: Shop, listing_request: ListingRequest) -> bool:
    is_counted = shop.settings[TRACKING] and shop.settings[CLICKS] and request.method == "GET"
    by_relevance = listing_request.order is Sort.RELEVANCE and not listing_request.is_filtered
    words = listing_request.words
    return bool(is_counted and words and by_relevance and not may_hold_code(words))


def _key(running: RunningComparison, listing_request: ListingRequest, seed: int) -> DraftKey | None:
    """Return the key of the draft: that in the address, by which a page continues the first one, or on a first page
    that of the visit. None where the search takes no part."""
    if listing_request.draft is not None:
        return listing_request.draft if listing_request.draft.comparison_id == running.id else None
    if listing_request.page > 1 or listing_request.words_alone or not is_included(seed, running.share):
        return None
    return DraftKey(running.id, seed)


def compared_page(part: Participation | None, sides: Sequence[Side | None] | None) -> Compared:
    """Return what the journey of the shopper keeps of a page whose first products are of these sides; None for a page
    that is not interleaved."""
    if part is None:
        return NOT_COMPARED
    if part.contest is None or sides is None:
        return Compared(part.seed)
    return Compared(part.seed, part.contest.key.comparison_id, tuple(sides))


def keep_private(response: Response) -> Response:
    """Let no cache that shoppers share keep a page of which shoppers see different orders."""
    if g.get("differs_by_shopper"):
        response.headers.setdefault("Cache-Control", "private")
    return response
