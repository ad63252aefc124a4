"""Landing pages in a category's editor: those that exist now, the values that could have one, and the pages that show
nearly the same products, of which search engines list one at best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from app.domain.merchandising.shop import Shop
from app.domain.merchandising.tree import ShopNode, segment_of
from app.domain.search.engine import IndexName, SearchEngine, SearchRequest, ValueFilter
from app.domain.seo.landing.directory import LandingDirectory, rules_in_force, rules_of, subject_of
from app.domain.seo.landing.pages import (
    FacetCounts,
    LandingPage,
    LandingSubject,
    LandingWarning,
    excluded_values,
    landing_pages,
    least_products,
)
from app.domain.seo.landing.rules import Rule
from app.domain.shared.clock import Clock

ALIKE = 0.9  # Pages that have more of their products in common than this are near-twins.
MOST_ROWS = 200  # Of a rule that the editor lists.
MOST_COMPARED = 60  # Pages of a category, each a query that returns no products.


class ValueState(StrEnum):
    """The state of a facet's value. BLOCKED has enough products but no address to itself; the warnings say why."""

    PAGE = "page"
    CANDIDATE = "candidate"
    EXCLUDED = "excluded"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True)
class ValueRow:
    """A value of a rule's facet. `share` is the part of the category's products that carry it."""

    value: str
    products: int
    state: ValueState
    share: float
    path: str | None = None

    @property
    def is_like_category(self) -> bool:
        return self.share > ALIKE


@dataclass(frozen=True, slots=True)
class RuleOverview:
    """The values of one rule, most products first. `rows` is None while they cannot be counted; `more` counts those
    that are left out. `uncarried` are values with an override that no product of the category carries."""

    facet_id: str
    segment: str
    minimum: int
    rows: tuple[ValueRow, ...] | None
    more: int = 0
    uncarried: frozenset[str] = frozenset()

    @property
    def pages(self) -> int:
        return sum(row.state is ValueState.PAGE for row in self.rows or ())


@dataclass(frozen=True, slots=True)
class LandingOverview:
    """The overview of landing pages. `obstacle` says why a category with rules can have no pages at all, `ignored` why
    single rules have none."""

    rules: tuple[RuleOverview, ...]
    pages: tuple[LandingPage, ...]
    warnings: tuple[LandingWarning, ...]
    ignored: tuple[str, ...] = ()
    obstacle: str | None = None

    @property
    def minimum(self) -> int | None:
        """The lowest of the rules' minimums of products."""
        return min((rule.minimum for rule in self.rules), default=None)

    def uncarried(self, facet_id: str) -> frozenset[str]:
        """The values that a facet's rule overrides but no product of the category carries."""
        return next((rule.uncarried for rule in self.rules if rule.facet_id == facet_id), frozenset())


def landing_overview(
    directory: LandingDirectory, engine: SearchEngine, clock: Clock, shop: Shop, node: ShopNode, least: int | None
) -> LandingOverview:
    """Return the pages of a category with the values that would have one were `least` products enough."""
    rules = rules_in_force(shop, node)
    counts = directory.counts(engine, clock, shop, node, rules)
    subject = subject_of(shop, node)
    made = landing_pages(subject, rules, counts)
    every_rule = rules_of(shop, node)
    ignored = tuple(f"A rule is ignored: {refusal}" for _, refusal in every_rule if refusal)
    obstacle = _obstacle(shop, node) if every_rule else None
    overviews = rule_overviews(subject, rules, counts, least)
    return LandingOverview(tuple(overviews), made.pages, made.warnings, ignored, obstacle)


def rule_overviews(
    subject: LandingSubject, rules: Sequence[Rule], counts: Mapping[str, FacetCounts | None], least: int | None
) -> list[RuleOverview]:
    return [_rule_overview(subject, rule, counts[rule["facetId"]], least) for rule in rules]


def _rule_overview(subject: LandingSubject, rule: Rule, counted: FacetCounts | None, least: int | None) -> RuleOverview:
    facet_id, segment = rule["facetId"], segment_of(rule)
    minimum = least_products(rule, subject.least_products)
    if counted is None:
        return RuleOverview(facet_id, segment, minimum, None)
    rows = _value_rows(subject, rule, counted, min(minimum, least or minimum))
    shown, more = tuple(rows[:MOST_ROWS]), max(0, len(rows) - MOST_ROWS)
    return RuleOverview(facet_id, segment, minimum, shown, more, _uncarried_values(rule, counted))


def _uncarried_values(rule: Rule, counted: FacetCounts) -> frozenset[str]:
    """Return the values with an override that no product carries; case does not matter, as for the overrides
    themselves."""
    carried = {value.casefold() for value, count in counted.values if count}
    named = (override["value"] for override in rule.get("overrides", ()))
    return frozenset(value for value in named if value.casefold() not in carried)


def _value_rows(subject: LandingSubject, rule: Rule, counted: FacetCounts, least: int) -> list[ValueRow]:
    """Return the rows of the values that have a page, are excluded, or have at least `least` products."""
    paths = _page_paths(subject, rule, counted)
    possible = _page_paths(subject, rule | {"minProducts": least}, counted)
    excluded = excluded_values(rule, counted)

    def state(value: str) -> ValueState:
        if value in excluded:
            return ValueState.EXCLUDED
        if value in paths:
            return ValueState.PAGE
        return ValueState.CANDIDATE if value in possible else ValueState.BLOCKED

    rows = [
        ValueRow(value, count, state(value), count / counted.total, paths.get(value))
        for value, count in counted.values
        if least <= count < counted.total or (count and value in excluded)
    ]
    return sorted(rows, key=lambda row: (-row.products, row.value))


def _page_paths(subject: LandingSubject, rule: Rule, counted: FacetCounts) -> dict[str, str]:
    """Return the addresses of the rule's pages by value."""
    made = landing_pages(subject, [rule], {rule["facetId"]: counted})
    return {page.value: page.path for page in made.pages}


def _obstacle(shop: Shop, node: ShopNode) -> str | None:
    if node.tree_id != shop.tree.primary_tree_id:
        return "This tree is not the primary one, so its categories have no landing pages."
    if not shop.tree.is_shown(node):
        return "The category, or one above it, is hidden."
    if node.canonical_override:
        return f"Search engines know the category by another address, {node.canonical_override}."
    return None


@dataclass(frozen=True, slots=True)
class NearTwins:
    """Two landing pages with almost the same products. `share` is the part of the products of both that both have."""

    one: LandingPage
    other: LandingPage
    share: float


@dataclass(frozen=True, slots=True)
class TwinComparison:
    """The comparison of landing pages. `is_whole` is false where there are more pages of alike sizes than are
    compared."""

    twins: tuple[NearTwins, ...]
    is_whole: bool


def find_near_twins(engine: SearchEngine, site_id: int, node_id: int, pages: Sequence[LandingPage]) -> TwinComparison:
    """Return the near-twins among the pages of a category. Raises SearchUnavailable."""
    partners = alike_in_size(pages)
    found: list[NearTwins] = []
    for page, others in partners[:MOST_COMPARED]:
        common = _count_in_common(engine, site_id, node_id, page, others)
        for other in others:
            share = share_in_common(page.products, other.products, common.get((other.facet_id, other.value), 0))
            if share > ALIKE:
                found.append(NearTwins(page, other, share))
    found.sort(key=lambda twins: -twins.share)
    return TwinComparison(tuple(found), len(partners) <= MOST_COMPARED)


def share_in_common(one: int, other: int, both: int) -> float:
    """Return the part of the products of two pages that both have. Their counts may be some minutes older than what
    they have in common, which then is more than all of them."""
    return both / max(one + other - both, both) if both else 0.0


def alike_in_size(pages: Sequence[LandingPage]) -> list[tuple[LandingPage, list[LandingPage]]]:
    """Return the pages that can have near-twins, each with the pages after it, of other facets, that have nearly as
    many products: so every pair is there once."""
    found = []
    for index, page in enumerate(pages):
        others = [other for other in pages[index + 1 :] if _is_alike_in_size(page, other)]
        if others:
            found.append((page, others))
    return found


def _is_alike_in_size(one: LandingPage, other: LandingPage) -> bool:
    smaller, larger = sorted((one.products, other.products))
    return one.facet_id != other.facet_id and smaller > ALIKE * larger


def _count_in_common(
    engine: SearchEngine, site_id: int, node_id: int, page: LandingPage, others: Sequence[LandingPage]
) -> dict[tuple[str, str], int]:
    """Return how many products of a page each value of the others' facets has."""
    facets = tuple(dict.fromkeys(other.facet_id for other in others))
    scope = (ValueFilter("category", (str(node_id),)), ValueFilter(page.facet_id, (page.value,)))
    request = SearchRequest(scope=scope, facets=facets, per_page=0, fresh=True)
    result = engine.search(site_id, IndexName.PRODUCTS, request)
    return {(facet, value): count for facet in facets for value, count in result.facets.get(facet, ())}
