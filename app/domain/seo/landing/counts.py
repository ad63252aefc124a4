"""Live counts for landing pages: one counts-only query per category and facet, cached in each process."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from dataclasses import dataclass
from datetime import timedelta

from cachetools import LRUCache

from app.domain.merchandising.shop import Shop
from app.domain.merchandising.tree import ShopNode
from app.domain.search.engine import IndexName, SearchEngine, SearchRequest, SearchUnavailable, ValueFilter
from app.domain.seo.landing.pages import FacetCounts
from app.domain.shared.clock import Clock

FRESH = timedelta(minutes=5).total_seconds()
STALE_AT_MOST = timedelta(hours=24).total_seconds()
MOST_COUNTS = 5_000  # Each of one category and facet.


@dataclass(frozen=True, slots=True)
class _Counted:
    counts: FacetCounts
    counted_at: float
    index_version: int


class LandingCounts:
    """Cache of counts by site, category, its last change and facet, for five minutes or until the index changes. While
    search is unavailable the last good counts serve for up to a day, where the site allows it. Safe to share between
    threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counted: LRUCache[Hashable, _Counted] = LRUCache(MOST_COUNTS)

    def __len__(self) -> int:
        return len(self._counted)

    def of(self, engine: SearchEngine, clock: Clock, shop: Shop, node: ShopNode, facet_id: str) -> FacetCounts | None:
        """Return the counts of a facet in a category; None while none can be fetched."""
        key = (shop.site_id, node.id, node.updated_at, facet_id)
        now = clock.monotonic()
        with self._lock:
            known = self._counted.get(key)
        if known and known.index_version == shop.index_version and now - known.counted_at < FRESH:
            return known.counts
        try:
            counts = count_values(engine, shop.site_id, node.id, facet_id)
        except SearchUnavailable:
            return _stale(shop, known, now)
        with self._lock:
            self._counted[key] = _Counted(counts, now, shop.index_version)
        return counts


def count_values(engine: SearchEngine, site_id: int, node_id: int, facet_id: str) -> FacetCounts:
    """Count the products of a category and those that carry each value of a facet. Raises SearchUnavailable."""
    scope = (ValueFilter("category", (str(node_id),)),)
    request = SearchRequest(scope=scope, facets=(facet_id,), per_page=0, fresh=True)
    result = engine.search(site_id, IndexName.PRODUCTS, request)
    return FacetCounts(result.total, tuple(result.facets.get(facet_id, ())))


def _stale(shop: Shop, known: _Counted | None, now: float) -> FacetCounts | None:
    if known is None or not shop.settings["facet-landing-stale-counts"]:
        return None
    return known.counts if now - known.counted_at <= STALE_AT_MOST else None
