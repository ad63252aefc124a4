"""The one way to search products by words: what merchandisers taught goes into the request, then an engine is asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.exc import OperationalError

from app.domain.catalogue.models import Product
from app.domain.search.engine import Generation, Hit, IndexName, Pin, Searching, SearchRequest, SearchResult
from app.domain.search.live.plan import Plan, plan
from app.domain.search.live.served import Rule, Served
from app.domain.search.text import query_words
from app.extensions import db

TEN = 10


@dataclass(frozen=True, slots=True)
class OfGeneration:
    """Asks the products of a sealed generation as if it were live."""

    generation: Generation

    def search(self, site_id: int, index: IndexName, request: SearchRequest) -> SearchResult:
        return self.generation.search(request)


@dataclass(frozen=True, slots=True)
class Asked:
    """`request` is what the engine answered; it carries the corrected words where those were expanded."""

    result: SearchResult
    request: SearchRequest


@dataclass(frozen=True, slots=True)
class Ten:
    """The first ten products of a search, as shoppers see them."""

    total: int
    hits: tuple[Hit, ...]
    plan: Plan
    result: SearchResult


def ask(
    engine: Searching, site_id: int, request: SearchRequest, plan: Plan, stop_words: frozenset[str] = frozenset()
) -> Asked:
    """`request` is a plain one: words, filters, page. Raises SearchUnavailable."""
    asked = taught(site_id, request, plan, stop_words)
    result = engine.search(site_id, IndexName.PRODUCTS, asked)
    if not result.corrected or not result.suggestion:
        return Asked(result, asked)
    expansion = plan.synonyms.expand(result.suggestion)
    if not expansion.alternatives:
        return Asked(result, asked)
    corrected = replace(request, words=result.suggestion, prefix_last=False)
    again = taught(site_id, corrected, replace(plan, expansion=expansion), stop_words)
    widened = engine.search(site_id, IndexName.PRODUCTS, again)
    return Asked(replace(widened, suggestion=result.suggestion, corrected=True), again)


def taught(site_id: int, request: SearchRequest, plan: Plan, stop_words: frozenset[str] = frozenset()) -> SearchRequest:
    """The request with synonyms, stop words and the places of a rule. SKUs are looked up in one query, only where a
    rule applies; while the database does not answer, nothing is placed."""
    if not (stop_words or plan.expansion.alternatives or plan.rule):
        return request
    optional = stop_words.intersection(query_words(request.words)) if stop_words else frozenset()
    widened = replace(request, alternatives=plan.expansion.alternatives, optional=optional)
    return _placed(site_id, widened, plan.rule)


def _placed(site_id: int, request: SearchRequest, rule: Rule | None) -> SearchRequest:
    if rule is None or not rule.skus:
        return request
    ids = _ids_if_there(site_id, rule.skus)
    return replace(
        request,
        pins=tuple(Pin(ids[pin.sku], pin.position) for pin in rule.pins if pin.sku in ids),
        boosts=tuple(ids[sku] for sku in rule.boosts if sku in ids),
        buries=tuple(ids[sku] for sku in rule.buries if sku in ids),
    )


def _ids_if_there(site_id: int, skus: Iterable[str]) -> Mapping[str, str]:
    try:
        return document_ids(site_id, skus)
    except OperationalError:
        db.session.rollback()
        return {}


def document_ids(site_id: int, skus: Iterable[str]) -> dict[str, str]:
    """The index's id of each product by its SKU; unknown SKUs are left out."""
    wanted = select(Product.sku, Product.id).where(Product.site_id == site_id, Product.sku.in_(set(skus)))
    return {row.sku: f"p{row.id}" for row in db.session.execute(wanted)}


def first_ten(engine: Searching, site_id: int, words: str, served: Served, now: datetime) -> Ten:
    """What the first page of this search begins with. A redirect is told by the plan and not followed.
    Raises SearchUnavailable."""
    planned = plan(words, served, now)
    result = ask(engine, site_id, SearchRequest(words=words, per_page=TEN), planned, served.stop_words).result
    return Ten(result.total, result.hits, planned, result)
