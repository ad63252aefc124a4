"""The landing pages of a shop's categories, as they stand now."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import structlog
from cachetools import LRUCache

from app.domain.merchandising.shop import Shop
from app.domain.merchandising.tree import Display, ShopNode
from app.domain.search.engine import SearchEngine
from app.domain.seo.landing.counts import LandingCounts
from app.domain.seo.landing.inheritance import effective_rules
from app.domain.seo.landing.pages import (
    FacetCounts,
    LandingPages,
    LandingSubject,
    WarningKind,
    landing_pages,
)
from app.domain.seo.landing.rules import Rule, facet_problem
from app.domain.shared.clock import Clock

MOST_CATEGORIES = 2_000

log = structlog.get_logger()


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
        counts = self._counted(engine, clock, shop, node, rules)
        if known and all(a is b for a, b in zip(known.counts, counts, strict=True)):
            return known.pages
        pages = landing_pages(subject_of(shop, node), rules, counts_by_facet(rules, counts))
        _warn(shop, node, pages)
        with self._lock:
            self._made[key] = _Made(rules, counts, pages)
        return pages

    def counts(
        self, engine: SearchEngine, clock: Clock, shop: Shop, node: ShopNode, rules: Sequence[Rule]
    ) -> dict[str, FacetCounts | None]:
        """Return the counts of the rules' facets; None for what cannot be fetched."""
        return counts_by_facet(rules, self._counted(engine, clock, shop, node, rules))

    def _counted(
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
    return LandingSubject(
        name=node.name,
        path=node.path,
        taken=frozenset(child.slug for child in shop.tree.children(node.id)),
        categories=_categories_two_below(shop, node),
        site_name=shop.name,
        least_products=shop.settings["facet-landing-min-products"],
    )


def _categories_two_below(shop: Shop, node: ShopNode) -> frozenset[tuple[str, str]]:
    every_child = shop.tree.every_child
    return frozenset((child.slug, below.slug) for child in every_child(node.id) for below in every_child(child.id))


def _warn(shop: Shop, node: ShopNode, made: LandingPages) -> None:
    """Log the warnings, once for each state of the rules and counts."""
    for warning in made.warnings:
        if warning.kind == WarningKind.SEGMENT_TAKEN:
            log.warning("landing_rule_skipped", site=shop.site_id, node=node.id, reason=warning.message)
