"""The landing pages of a shop's categories as they are now, and the live counts of products that make them: one
counts-only query per category and facet. Both are cached in each process."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import timedelta

import structlog
from cachetools import LRUCache

from app.domain.merchandising.shop import Shop
from app.domain.merchandising.tree import Display, ShopNode
from app.domain.search.engine import IndexName, SearchEngine, SearchRequest, SearchUnavailable, ValueFilter
from app.domain.seo.landing.pages import (
    FacetCounts,
    LandingPages,
    LandingSubject,
    WarningKind,
    landing_pages,
)
from app.domain.seo.landing.rules import Rule, effective_rules, facet_problem
from app.domain.shared.clock import Clock

FRESH = timedelta(minutes=5).total_seconds()
STALE_AT_MOST = timedelta(hours=24).total_seconds()
MOST_COUNTS = 5_000  # Each of one category and facet.
MOST_CATEGORIES = 2_000

log = structlog.get_logger()


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
            is_allowed = known is not None and shop.settings["facet-landing-stale-counts"]
            return known.counts if known and is_allowed and now - known.counted_at <= STALE_AT_MOST else None
        with self._lock:
            self._counted[key] = _Counted(counts, now, shop.index_version)
        return counts


def count_values(engine: SearchEngine, site_id: int, node_id: int, facet_id: str) -> FacetCounts:
    """Count the products of a category and those that carry each value of a facet. Raises SearchUnavailable."""
    scope = (ValueFilter("category", (str(node_id),)),)
    request = SearchRequest(scope=scope, facets=(facet_id,), per_page=0, fresh=True)
    result = engine.search(site_id, IndexName.PRODUCTS, request)
    return FacetCounts(result.total, tuple(result.facets.get(facet_id, ())))


@dataclass(frozen=True, slots=True)
class _Made:
    rules: list[Rule]
    counts: list[FacetCounts | None]
    pages: LandingPages


class LandingDirectory:
    """Cache of the landing pages by category. They are made anew when the shop's configuration or the counts change.
    Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts = LandingCounts()
        self._made: LRUCache[Hashable, _Made] = LRUCache(MOST_CATEGORIES)

    def of(self, engine: SearchEngine, clock: Clock, shop: Shop, node: ShopNode) -> LandingPages:
        """Return the landing pages that a category has now; none while its counts cannot be fetched."""
        key = (shop.site_id, shop.version, node.id)
        with self._lock:
            known = self._made.get(key)
        rules = rules_in_force(shop, node) if known is None else known.rules
        counts = self._count_facets(engine, clock, shop, node, rules)
        if known and all(a is b for a, b in zip(known.counts, counts, strict=True)):
            return known.pages
        pages = landing_pages(subject_of(shop, node), rules, counts_by_facet(rules, counts))
        for warning in pages.warnings:  # Once for each state of the rules and counts.
            if warning.kind == WarningKind.SEGMENT_TAKEN:
                log.warning("landing_rule_skipped", site=shop.site_id, node=node.id, reason=warning.message)
        with self._lock:
            self._made[key] = _Made(rules, counts, pages)
        return pages

    def counts(
        self, engine: SearchEngine, clock: Clock, shop: Shop, node: ShopNode, rules: Sequence[Rule]
    ) -> dict[str, FacetCounts | None]:
        """Return the counts of the rules' facets; None for what cannot be fetched."""
        return counts_by_facet(rules, self._count_facets(engine, clock, shop, node, rules))

    def _count_facets(
        self, engine: SearchEngine, clock: Clock, shop: Shop, node: ShopNode, rules: Sequence[Rule]
    ) -> list[FacetCounts | None]:
        return [self._counts.of(engine, clock, shop, node, rule["facetId"]) for rule in rules]


def counts_by_facet(rules: Sequence[Rule], counts: Sequence[FacetCounts | None]) -> dict[str, FacetCounts | None]:
    return {rule["facetId"]: counted for rule, counted in zip(rules, counts, strict=True)}


def rules_in_force(shop: Shop, node: ShopNode) -> list[Rule]:
    """Return the rules that give a category pages. Spec, "Which landing pages exist": it must be shown, of the primary
    tree and without a canonical override; a rule whose facet has no values to give pages to is ignored."""
    if node.canonical_override or node.tree_id != shop.tree.primary_tree_id or not shop.tree.is_shown(node):
        return []
    return [rule for rule, refusal in rules_of(shop, node) if refusal is None]


def rules_of(shop: Shop, node: ShopNode) -> list[tuple[Rule, str | None]]:
    """Return a category's effective rules, each with the reason why its facet has no values to give pages to any more:
    the taxonomy or the filters may have changed since it was saved."""
    rules = effective_rules(node.own_landing_rules, shop.tree.default_landing_rules(node.tree_id))
    if not rules:
        return []
    attributes = shop.taxonomy.attributes_by_id()
    ranges = {facet.facet_id for facet in shop.tree.facets(node.id) if facet.display is Display.RANGE}
    return [(rule, facet_problem(rule["facetId"], attributes, ranges)) for rule in rules]


def subject_of(shop: Shop, node: ShopNode) -> LandingSubject:
    every_child = shop.tree.every_child
    two_below = ((child.slug, below.slug) for child in every_child(node.id) for below in every_child(child.id))
    return LandingSubject(
        name=node.name,
        path=node.path,
        taken=frozenset(child.slug for child in shop.tree.children(node.id)),
        categories=frozenset(two_below),
        site_name=shop.name,
        least_products=shop.settings["facet-landing-min-products"],
    )
