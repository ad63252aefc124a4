"""The impact of a changed taxonomy on shoppers, before it is saved: categories that lose products, landing pages that
go, and the search rules and golden searches that name what goes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from sqlalchemy import select

from app.domain.catalogue.models import Product
from app.domain.merchandising.membership import count_by_category, count_by_maker, product_groups
from app.domain.merchandising.shop import Shop, read_shop
from app.domain.merchandising.tree import ShopNode, ShopTree
from app.domain.relevance.models import GoldenSearch, SearchRule
from app.domain.search.text import query_words
from app.domain.seo.landing.directory import rules_in_force
from app.domain.seo.landing.pages import LandingPage, LandingPages, least_products
from app.domain.seo.landing.rules import MANUFACTURER
from app.domain.taxonomy.models import Taxonomy
from app.domain.taxonomy.taxonomies import is_active
from app.domain.taxonomy.tree import Attribute, TaxonomyTree
from app.extensions import db

MOST_LISTED = 200  # Of each kind.
LandingPagesOf = Callable[[Shop, ShopNode], LandingPages]


@dataclass(frozen=True, slots=True)
class CategoryLoss:
    """A category that shoppers reach, with the number of its products before and after. `name` is the way to it, as in
    "Garden › Tools"."""

    id: int
    name: str
    path: str
    before: int
    after: int

    @property
    def is_emptied(self) -> bool:
        return self.after == 0


@dataclass(frozen=True, slots=True)
class LandingLoss:
    path: str
    heading: str
    products: int


@dataclass(frozen=True, slots=True)
class RuleLoss:
    """A search rule that leads to something that goes, or names it; `reason` says what."""

    id: int
    term: str
    reason: str


@dataclass(frozen=True, slots=True)
class GoldenLoss:
    id: int
    query: str
    sku: str
    reason: str


@dataclass(frozen=True, slots=True)
class ShopperImpact:
    """What shoppers lose. The emptied categories come first. `is_truncated`: of a kind there are more than
    MOST_LISTED."""

    categories: tuple[CategoryLoss, ...] = ()
    landing_pages: tuple[LandingLoss, ...] = ()
    rules: tuple[RuleLoss, ...] = ()
    golden_searches: tuple[GoldenLoss, ...] = ()
    is_truncated: bool = False

    @property
    def is_empty(self) -> bool:
        return not (self.categories or self.landing_pages or self.rules or self.golden_searches)

    def as_json(self) -> dict[str, Any]:
        return {
            "categories": [
                {
                    "id": str(one.id),
                    "name": one.name,
                    "path": f"/c/{one.path}",
                    "productsBefore": one.before,
                    "productsAfter": one.after,
                    "emptied": one.is_emptied,
                }
                for one in self.categories
            ],
            "landingPages": [
                {"path": one.path, "heading": one.heading, "products": one.products} for one in self.landing_pages
            ],
            "rules": [{"id": str(one.id), "term": one.term, "reason": one.reason} for one in self.rules],
            "goldenSearches": [
                {"id": str(one.id), "query": one.query, "sku": one.sku, "reason": one.reason}
                for one in self.golden_searches
            ],
            "truncated": self.is_truncated,
        }


@dataclass(frozen=True, slots=True)
class _Gone:
    """Removed levels by id with their names, and the attributes and values that no level defines any more."""

    levels: Mapping[str, str]
    attributes: frozenset[str]
    values: frozenset[tuple[str, str]]

    @classmethod
    def between(cls, before: TaxonomyTree, after: TaxonomyTree) -> _Gone:
        old, new = before.attributes_by_id(), after.attributes_by_id()
        return cls(
            levels={level.id: level.name for level in before.levels.values() if level.id not in after.levels},
            attributes=frozenset(old.keys() - new.keys()),
            values=frozenset(_values_gone(old, new)),
        )

    @property
    def facets(self) -> frozenset[str]:
        return self.attributes | {attribute_id for attribute_id, _ in self.values}

    def has(self, page: LandingPage) -> bool:
        return page.facet_id in self.attributes or (page.facet_id, page.value) in self.values

    def level_named_in(self, text: str) -> str | None:
        """Return the name of a removed level all of whose words the text has, in any form."""
        said = set(query_words(text))
        names = ((name, set(query_words(name))) for name in self.levels.values())
        return next((name for name, words in names if words and words <= said), None)


def shopper_impact(taxonomy: Taxonomy, after: TaxonomyTree, pages_of: LandingPagesOf) -> ShopperImpact:
    """Return what shoppers lose when the taxonomy gets another tree; empty for a taxonomy that is not the active
    one."""
    if not is_active(taxonomy):
        return ShopperImpact()
    before = taxonomy.tree
    gone, shop = _Gone.between(before, after), read_shop(taxonomy.site_id)
    groups = product_groups(shop.site_id) if _can_lose_products(shop.tree, before, after) else []
    held, left = (count_by_maker(groups, shop.tree, taxonomy) for taxonomy in (before, after))
    categories = _shrunk_categories(shop.tree, held, left)
    pages = list(islice(_lost_landing_pages(shop, gone, categories, left, pages_of), MOST_LISTED + 1))
    paths = {f"/c/{one.path}" for one in categories if one.is_emptied} | {page.path for page in pages}
    rules, golden = (
        list(_affected_rules(shop.site_id, gone, paths)),
        list(_affected_golden_searches(shop.site_id, gone)),
    )
    return ShopperImpact(
        categories=tuple(categories[:MOST_LISTED]),
        landing_pages=tuple(pages[:MOST_LISTED]),
        rules=tuple(rules[:MOST_LISTED]),
        golden_searches=tuple(golden[:MOST_LISTED]),
        is_truncated=any(len(found) > MOST_LISTED for found in (categories, pages, rules, golden)),
    )


def _can_lose_products(tree: ShopTree, before: TaxonomyTree, after: TaxonomyTree) -> bool:
    """Whether a category takes the products of a level that some of them are no longer at or below."""
    paths = ((before.path_ids(level_id), after.path_ids(level_id)) for level_id in before.levels)
    left = set(chain.from_iterable(set(was).difference(now) for was, now in paths if was != now))
    return any(not left.isdisjoint(node.source_levels) for node in tree.nodes.values())


def _shrunk_categories(
    tree: ShopTree, held: Counter[tuple[int, str]], left: Counter[tuple[int, str]]
) -> list[CategoryLoss]:
    """Return the categories that shoppers reach and that have fewer products, those without any first."""
    old, new = count_by_category(held), count_by_category(left)
    found = [
        CategoryLoss(node.id, tree.label(node.id), node.path, old[node.id], new[node.id])
        for node in tree.nodes.values()
        if new[node.id] < old[node.id] and tree.at(node.path) is node
    ]
    return sorted(found, key=lambda category: not category.is_emptied)


def _lost_landing_pages(
    shop: Shop,
    gone: _Gone,
    categories: Sequence[CategoryLoss],
    left: Mapping[tuple[int, str], int],
    pages_of: LandingPagesOf,
) -> Iterator[LandingLoss]:
    """Yield the landing pages that go. Only categories whose pages can be affected are counted. `left` is the number of
    products that remain, by category and manufacturer: too few of a manufacturer have no page."""
    affected = {category.id: category for category in categories}
    site_default = int(shop.settings["facet-landing-min-products"])
    for node in shop.tree.nodes.values():
        least = {rule["facetId"]: least_products(rule, site_default) for rule in rules_in_force(shop, node)}
        loss = affected.get(node.id)
        if not least or (loss is None and not least.keys() & gone.facets):
            continue
        for page in pages_of(shop, node).pages:
            is_short = loss and page.facet_id == MANUFACTURER and left[node.id, page.value] < least[MANUFACTURER]
            if (loss and loss.is_emptied) or is_short or gone.has(page):
                yield LandingLoss(page.path, page.heading, page.products)


def _affected_rules(site_id: int, gone: _Gone, paths: Collection[str]) -> Iterator[RuleLoss]:
    rules = select(SearchRule).where(SearchRule.site_id == site_id).order_by(SearchRule.term, SearchRule.id)
    for rule in db.session.scalars(rules):
        led_to = next((path for path in rule.value.paths if path and _is_concerned(path, gone, paths)), None)
        if led_to:
            yield RuleLoss(rule.id, rule.term, f"leads to {led_to}")
        elif name := gone.level_named_in(rule.term):
            yield RuleLoss(rule.id, rule.term, f"names the level “{name}”")


def _is_concerned(path: str, gone: _Gone, paths: Collection[str]) -> bool:
    """Whether a path leads to a page that goes or stands empty, or filters by what goes."""
    parts = urlsplit(path)
    filters = parse_qsl(parts.query, max_num_fields=None)
    is_filter_gone = any(name in gone.attributes or (name, value) in gone.values for name, value in filters)
    return unquote(parts.path) in paths or is_filter_gone


def _affected_golden_searches(site_id: int, gone: _Gone) -> Iterator[GoldenLoss]:
    if not gone.levels:
        return
    is_product = (Product.site_id == GoldenSearch.site_id) & (Product.sku == GoldenSearch.sku)
    query = select(GoldenSearch, Product.taxonomy_level_id).outerjoin(Product, is_product)
    rows = db.session.execute(
        query.where(GoldenSearch.site_id == site_id).order_by(GoldenSearch.query, GoldenSearch.id)
    )
    for search, level_id in rows:
        if name := gone.level_named_in(search.query):
            yield GoldenLoss(search.id, search.query, search.sku, f"names the level “{name}”")
        elif level_id is not None and level_id in gone.levels:
            yield GoldenLoss(search.id, search.query, search.sku, f"{search.sku} is of “{gone.levels[level_id]}”")


def _values_gone(
    before: Mapping[str, Sequence[Attribute]], after: Mapping[str, Sequence[Attribute]]
) -> Iterator[tuple[str, str]]:
    """Yield the values that no definition of their attribute has any more. Most attributes of a tree are as they
    were."""
    for attribute_id, definitions in before.items():
        left = after.get(attribute_id, ())
        if definitions != left:
            kept = {value for attribute in left for value in attribute.allowed_values}
            held = {value for attribute in definitions for value in attribute.allowed_values}
            yield from ((attribute_id, value) for value in held - kept)
