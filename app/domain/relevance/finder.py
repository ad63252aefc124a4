"""Records of the admin found by words: products, collections, pages, orders, users, levels, synonyms, search terms,
rules and searches that found nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from app.domain.catalogue.content import COLLECTION, PAGE, ContentKind, list_content
from app.domain.catalogue.queries import ProductRow, find_products
from app.domain.catalogue.terms import find_by_term
from app.domain.orders import queries as order_queries
from app.domain.orders.listing import OrderList
from app.domain.relevance import rules, synonyms
from app.domain.relevance.rules import RuleQuery
from app.domain.relevance.synonym_definition import StatusFilter, SynonymList
from app.domain.search_statistics.counting.queries import NO_RESULTS_DAYS, find_searches_without_results
from app.domain.shared.clock import Clock
from app.domain.shared.money import format_money
from app.domain.shared.text import fold, numbered
from app.domain.sites.sites import currency_of
from app.domain.sites.staff import find_users
from app.domain.taxonomy.taxonomies import active_taxonomy

MOST_OF_A_KIND = 5


class FoundKind(StrEnum):
    PRODUCT = "product"
    COLLECTION = "collection"
    PAGE = "page"
    USER = "user"
    ORDER = "order"
    LEVEL = "level"
    SYNONYM = "synonym"
    TERM = "term"
    RULE = "rule"
    FAILED_SEARCH = "failed_search"


@dataclass(frozen=True, slots=True)
class Found:
    """A found record; `detail` distinguishes it from others of the same name. `taxonomy_id` is set for a level only.
    The id of a search term is the SKU of its product, that of a failed search its words. `product` is the row of a
    product, from which its picture is known."""

    kind: FoundKind
    id: str
    name: str
    detail: str = ""
    taxonomy_id: str = ""
    product: ProductRow | None = None


def find(clock: Clock, site_id: int, words: str, kinds: Collection[FoundKind]) -> list[Found]:
    """Return the first few records of each of the kinds that have the words; none for no words."""
    wanted = " ".join(words.split())
    if not wanted:
        return []
    ways = {  # Generators: only those of the wanted kinds run.
        FoundKind.PRODUCT: _products(site_id, wanted),
        FoundKind.COLLECTION: _content(FoundKind.COLLECTION, COLLECTION, site_id, wanted),
        FoundKind.PAGE: _content(FoundKind.PAGE, PAGE, site_id, wanted),
        FoundKind.USER: _users(site_id, wanted),
        FoundKind.ORDER: _orders(clock, site_id, wanted),
        FoundKind.LEVEL: _levels(site_id, wanted),
        FoundKind.SYNONYM: _synonyms(site_id, wanted),
        FoundKind.TERM: _terms(site_id, wanted),
        FoundKind.RULE: _rules(clock, site_id, wanted),
        FoundKind.FAILED_SEARCH: _failed_searches(clock, site_id, wanted),
    }
    return [found for kind, way in ways.items() if kind in kinds for found in way]


def _products(site_id: int, words: str) -> Iterator[Found]:
    for row in find_products(site_id, words, MOST_OF_A_KIND):
        detail = row.sku if row.enabled else f"{row.sku}, hidden"
        yield Found(FoundKind.PRODUCT, str(row.id), row.name, detail, product=row)


def _content(kind: FoundKind, content: ContentKind[Any, Any], site_id: int, words: str) -> Iterator[Found]:
    for row in list_content(content, site_id, words, 1).items[:MOST_OF_A_KIND]:
        yield Found(kind, str(row.id), row.name, "" if row.enabled else "hidden")


def _users(site_id: int, words: str) -> Iterator[Found]:
    for user in find_users(site_id, words, MOST_OF_A_KIND):
        yield Found(FoundKind.USER, str(user.id), user.display_name, user.email)


def _orders(clock: Clock, site_id: int, words: str) -> Iterator[Found]:
    currency = currency_of(site_id)
    for row in order_queries.orders(clock, site_id, OrderList(words=words)).items[:MOST_OF_A_KIND]:
        detail = ", ".join(filter(None, (row.contact_name, format_money(row.total, row.currency or currency))))
        yield Found(FoundKind.ORDER, row.id, f"Order {row.number}", detail)


def _levels(site_id: int, words: str) -> Iterator[Found]:
    """Levels of the active taxonomy whose name has the words, the shortest names first."""
    taxonomy = active_taxonomy(site_id)
    if taxonomy is None:
        return
    tree, wanted = taxonomy.tree, fold(words)
    named = [level for level in tree.levels.values() if wanted in fold(level.name)]
    for level in sorted(named, key=lambda level: len(level.name))[:MOST_OF_A_KIND]:
        above = " › ".join(step.name for step in tree.path(level.id)[:-1])
        yield Found(FoundKind.LEVEL, level.id, level.name, above, taxonomy.id)


def _synonyms(site_id: int, words: str) -> Iterator[Found]:
    listing = SynonymList(words=words, status=StatusFilter.ANY, page_size=MOST_OF_A_KIND)
    for row in synonyms.find_synonyms(site_id, listing, None).items:
        detail = {StatusFilter.SUGGESTED: "suggested", StatusFilter.REJECTED: "rejected"}.get(StatusFilter(row.status))
        yield Found(FoundKind.SYNONYM, str(row.id), str(row.group), detail or "")


def _terms(site_id: int, words: str) -> Iterator[Found]:
    for row in find_by_term(site_id, words, MOST_OF_A_KIND):
        term = next((term for term in row.terms if fold(words) in fold(term)), row.terms[0])
        yield Found(FoundKind.TERM, row.sku, term, row.name)


def _failed_searches(clock: Clock, site_id: int, words: str) -> Iterator[Found]:
    for row in find_searches_without_results(clock, site_id, NO_RESULTS_DAYS, MOST_OF_A_KIND, words):
        yield Found(
            FoundKind.FAILED_SEARCH, row.word, row.word, f"{numbered(row.times, 'time')} in {NO_RESULTS_DAYS} days"
        )


def _rules(clock: Clock, site_id: int, words: str) -> Iterator[Found]:
    query = RuleQuery(words=words, page_size=MOST_OF_A_KIND)
    for row in rules.find_rules(site_id, query, clock.now()).page.items:
        yield Found(FoundKind.RULE, str(row.rule.id), row.rule.term, row.state.value)
