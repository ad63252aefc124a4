"""The categories and brands of each shop, ready to be suggested, and which popular searches find products: cached in a
process for as long as the shop and its index stay as they are."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from cachetools import LRUCache

from app.domain.merchandising.shop import Shop
from app.domain.merchandising.tree import ShopNode
from app.domain.search.engine import IndexName, SearchEngine, SearchRequest, SearchResult
from app.domain.search.listings.category_counts import category_counts
from app.domain.search.serving.plan import Plan, plan
from app.domain.search.serving.query import search_many_products
from app.domain.search.serving.served import Served
from app.domain.search.suggestions.names import Names

MOST_NAMES = 200  # Indexes of names, two for each state of a shop.
MOST_CHECKED = 20_000  # Popular searches.
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Brand:
    """A manufacturer, and how many products are its."""

    name: str
    products: int


class SuggestionDirectory:
    """Safe to share between threads; two may make the same."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._names: LRUCache[Hashable, object] = LRUCache(MOST_NAMES)
        self._checked: LRUCache[Hashable, bool] = LRUCache(MOST_CHECKED)

    def categories(self, engine: SearchEngine, shop: Shop) -> Names[ShopNode]:
        """Return the categories that shoppers can reach and that have products, those further up first."""
        key = ("categories", shop.site_id, shop.version, shop.index_version)
        return self._made(key, lambda: _categories(engine, shop))

    def brands(self, engine: SearchEngine, shop: Shop) -> Names[Brand]:
        """Return the manufacturers, those with most products first. Raises SearchUnavailable."""
        key = ("brands", shop.site_id, shop.index_version)
        return self._made(key, lambda: _brands(engine, shop.site_id))

    def finding(
        self, engine: SearchEngine, shop: Shop, served: Served, now: datetime, searches: Sequence[str]
    ) -> list[str]:
        """Return those of the searches that lead somewhere now: to a page by a rule, or to products that have all their
        words as they are written. Raises SearchUnavailable."""
        state = (shop.site_id, shop.index_version, served.version, now.date())
        with self._lock:
            known = {words: self._checked.get((*state, words)) for words in searches}
        new = [words for words, finds in known.items() if finds is None]
        if new:
            found = dict(zip(new, _find_products(engine, shop.site_id, served, now, new), strict=True))
            with self._lock:
                self._checked.update({(*state, words): finds for words, finds in found.items()})
            known |= found
        return [words for words in searches if known[words]]

    def _made(self, key: Hashable, make: Callable[[], T]) -> T:
        with self._lock:
            known = self._names.get(key)
        if known is None:
            known = make()
            with self._lock:
                self._names[key] = known
        return known  # type: ignore[return-value]


def words_alone(planned: Plan) -> Plan:
    """Return a plan without the meaning of the words: the next letter gives them another."""
    return replace(planned, by_meaning=False)


def _categories(engine: SearchEngine, shop: Shop) -> Names[ShopNode]:
    counts = category_counts(engine, shop.site_id)
    nodes = [node for node in shop.tree.nodes.values() if shop.tree.at(node.path) is node and counts.of(node.id) != 0]
    nodes.sort(key=lambda node: node.path.count("/"))
    return Names((node.name, node) for node in nodes)


def _brands(engine: SearchEngine, site_id: int) -> Names[Brand]:
    request = SearchRequest(facets=("manufacturer",), per_page=0)
    counted = engine.search(site_id, IndexName.PRODUCTS, request).facets.get("manufacturer", ())
    return Names((name, Brand(name, products)) for name, products in counted if name)


def _find_products(
    engine: SearchEngine, site_id: int, served: Served, now: datetime, searches: Sequence[str]
) -> list[bool]:
    plans = [words_alone(plan(words, served, now)) for words in searches]
    requests = [SearchRequest(words=words, per_page=0, correct=False, prefix_last=False) for words in searches]
    answers = search_many_products(engine, site_id, list(zip(requests, plans, strict=True)), served.stop_words)
    return [
        planned.redirect is not None or _has_all_words(answer.result)
        for planned, answer in zip(plans, answers, strict=True)
    ]


def _has_all_words(result: SearchResult) -> bool:
    return result.total > 0 and not result.corrected and result.full_matches != 0
