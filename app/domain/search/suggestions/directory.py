"""Cache, in each process, of what suggestions are made of: the categories and brands of each shop, and which popular
searches lead somewhere. Entries hold for as long as the shop and its index stay as they are."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from cachetools import LRUCache

from app.domain.merchandising.shop import Shop
from app.domain.merchandising.tree import ShopNode
from app.domain.search.engine import IndexName, SearchEngine, SearchRequest, SearchResult
from app.domain.search.listings.category_counts import CategoryCounts, category_counts
from app.domain.search.listings.content_hits import has_words, titled_content
from app.domain.search.serving.plan import Plan, plan
from app.domain.search.serving.query import search_many_products
from app.domain.search.serving.served import Served
from app.domain.search.suggestions.names import Names

MOST_NAMES = 200  # Indexes of names, two for each shop.
FRESH = timedelta(minutes=1)  # Entries hold at least so long, however often the index changes, as with each order.
MOST_CHECKED = 20_000  # Popular searches.
CHECKED_FOR = 300  # Seconds: rules begin and end, and pages come and go, without a new index.
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Brand:
    """A manufacturer, and how many products are its."""

    name: str
    products: int


@dataclass(frozen=True, slots=True)
class _Made(Generic[T]):
    """Names, with the versions of the shop and of its index from which they were made."""

    names: Names[T]
    shop_version: int
    index_version: int
    at: datetime

    def are_of(self, shop_version: int, index_version: int, now: datetime) -> bool:
        """Whether the names hold: made from these versions, or from another index less than FRESH ago."""
        is_new = self.index_version == index_version or abs(now - self.at) < FRESH
        return self.shop_version == shop_version and is_new


@dataclass(frozen=True, slots=True)
class _Verdict:
    """Whether a popular search led somewhere, in which state of the index and when."""

    leads_somewhere: bool
    index_version: int
    at: datetime

    def holds(self, index_version: int, now: datetime) -> bool:
        """Whether the verdict holds: made with this index, or with another one less than FRESH ago."""
        return self.index_version == index_version or abs(now - self.at) < FRESH


class SuggestionDirectory:
    """Keeps the newest names of each shop. Safe to share between threads; two may make the same names at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._categories: LRUCache[int, _Made[ShopNode]] = LRUCache(MOST_NAMES // 2)
        self._brands: LRUCache[int, _Made[Brand]] = LRUCache(MOST_NAMES // 2)
        self._checked: LRUCache[Hashable, _Verdict] = LRUCache(MOST_CHECKED)

    def categories(self, engine: SearchEngine, shop: Shop, now: datetime) -> Names[ShopNode]:
        """Return the categories that shoppers can reach and that have products, those further up first. While search
        does not answer, those without products are among them, and nothing is kept."""
        with self._lock:
            known = self._categories.get(shop.site_id)
        if known is not None and known.are_of(shop.version, shop.index_version, now):
            return known.names
        counts = category_counts(engine, shop.site_id)
        names = _names([(node.name, node) for node in _categories(shop, counts)], known)
        if not counts.is_search_away:
            with self._lock:
                self._categories[shop.site_id] = _Made(names, shop.version, shop.index_version, now)
        return names

    def brands(self, engine: SearchEngine, shop: Shop, now: datetime) -> Names[Brand]:
        """Return the manufacturers, those with most products first. Raises SearchUnavailable."""
        with self._lock:
            known = self._brands.get(shop.site_id)
        if known is not None and known.are_of(0, shop.index_version, now):
            return known.names
        names = _names([(brand.name, brand) for brand in _brands(engine, shop.site_id)], known)
        with self._lock:
            self._brands[shop.site_id] = _Made(names, 0, shop.index_version, now)
        return names

    def finding(
        self, engine: SearchEngine, shop: Shop, served: Served, now: datetime, searches: Sequence[str], most: int
    ) -> list[str]:
        """Return the first of the searches that lead somewhere now, `most` at most: to a page by a rule or by its
        title, or to products that have all their words as they are written. Those after the first `most` are checked
        only where they are needed. Raises SearchUnavailable."""
        found = self._finding(engine, shop, served, now, searches[:most])
        if len(found) < most:
            found += self._finding(engine, shop, served, now, searches[most:])
        return found[:most]

    def _finding(
        self, engine: SearchEngine, shop: Shop, served: Served, now: datetime, searches: Sequence[str]
    ) -> list[str]:
        moment = int(now.timestamp()) // CHECKED_FOR
        # The settings of a process may be newer than the version that it serves, or older.
        state = (shop.site_id, served.version, served.ranking, served.stop_words, moment)
        with self._lock:
            checked = {words: self._checked.get((*state, words)) for words in searches}
        known = {w: v.leads_somewhere for w, v in checked.items() if v and v.holds(shop.index_version, now)}
        if new := [words for words in searches if words not in known]:
            found = _lead_somewhere(engine, shop, served, now, new)
            with self._lock:
                for words, leads in found.items():
                    self._checked[*state, words] = _Verdict(leads, shop.index_version, now)
            known |= found
        return [words for words in searches if known[words]]


def words_alone(planned: Plan) -> Plan:
    """Return a plan without the meaning of the words: the next letter gives them another."""
    return replace(planned, by_meaning=False)


def _names(named: Sequence[tuple[str, T]], known: _Made[T] | None) -> Names[T]:
    """Return the names of things: the known ones where the things are the same, as after most changes of an index,
    since stemming thousands of names takes tens of milliseconds."""
    if known is not None and list(known.names) == [thing for _, thing in named]:
        return known.names
    return Names(named)


def _categories(shop: Shop, counts: CategoryCounts) -> list[ShopNode]:
    nodes = [node for node in shop.tree.nodes.values() if shop.tree.at(node.path) is node and counts.of(node.id) != 0]
    return sorted(nodes, key=lambda node: node.path.count("/"))


def _brands(engine: SearchEngine, site_id: int) -> list[Brand]:
    request = SearchRequest(facets=("manufacturer",), per_page=0)
    counted = engine.search(site_id, IndexName.PRODUCTS, request).facets.get("manufacturer", ())
    return [Brand(name, products) for name, products in counted if name]


def _lead_somewhere(
    engine: SearchEngine, shop: Shop, served: Served, now: datetime, searches: Sequence[str]
) -> dict[str, bool]:
    plans = [words_alone(plan(words, served, now)) for words in searches]
    as_written = SearchRequest(per_page=0, correct=False, suggest=False, prefix_last=False)
    requests = [replace(as_written, words=words) for words in searches]
    answers = search_many_products(engine, shop.site_id, list(zip(requests, plans, strict=True)), served.stop_words)
    found = {
        words: planned.redirect is not None or _has_all_words(answer.result)
        for words, planned, answer in zip(searches, plans, answers, strict=True)
    }
    finding_none = [words for words, finds in found.items() if not finds]
    pages = titled_content(engine, shop.site_id, finding_none) if shop.settings["search-content-enabled"] else {}
    return found | {words: True for words, page in pages.items() if has_words(page.name, words)}


def _has_all_words(result: SearchResult) -> bool:
    return result.total > 0 and not result.corrected and result.full_matches != 0
