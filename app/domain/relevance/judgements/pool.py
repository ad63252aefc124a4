"""The pool of a search: the products that a person is shown to rate, from the order of today and that of a candidate,
in an order that says nothing of their ranks."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import selectinload

from app.domain.catalogue.models import Product
from app.domain.relevance.judgements.lists import candidate_of
from app.domain.relevance.judgements.ratings import ratings_by
from app.domain.relevance.models import JudgedSearch, JudgementList
from app.domain.relevance.trials import start_trial
from app.domain.search.engine import SearchContext, Searching, SearchRequest, SearchUnavailable, TrialsUnsupported
from app.domain.search.serving.configuration import served as served_now
from app.domain.search.serving.plan import Served, plan
from app.domain.search.serving.query import UnderstoodSearch, search_understood, understand_served
from app.domain.shared.problems import NotFound
from app.extensions import db


@dataclass(frozen=True, slots=True)
class PooledProduct:
    """A product to rate, with the rater's own rating; None before they rate it."""

    product: Product
    rating: int | None


@dataclass(frozen=True, slots=True)
class Pool:
    """The products to rate; `problem` says why there are none, or none of the candidate."""

    products: Sequence[PooledProduct]
    problem: str = ""

    @property
    def left(self) -> int:
        return sum(one.rating is None for one in self.products)


def pool_of(context: SearchContext, row: JudgementList, search: JudgedSearch, rater_id: int) -> Pool:
    """Return the products that the search finds first, now and with the candidate of its list, and those that the rater
    has rated already, in the rater's own order."""
    own = ratings_by(rater_id, search.id)
    found, problem = _found(context, row, search.query)
    skus = sorted({*found, *own}, key=lambda sku: _place(row.id, search.id, rater_id, sku))
    wanted = select(Product).where(Product.site_id == row.site_id, Product.sku.in_(skus))
    products = {product.sku: product for product in db.session.scalars(wanted.options(selectinload(Product.images)))}
    return Pool([PooledProduct(products[sku], own.get(sku)) for sku in skus if sku in products], problem)


def _place(*named: object) -> str:
    """Return a place in an order that differs by list, search and rater, and in which nothing moves when a product
    comes in."""
    return hashlib.sha256(repr(named).encode()).hexdigest()


def _found(context: SearchContext, row: JudgementList, words: str) -> tuple[set[str], str]:
    candidate, now, served = candidate_of(row), context.clock.now(), served_now(row.site_id)
    try:
        found = set(_first(context.engine, row, words, served, now))
        if candidate is not None:
            with start_trial(context.engine, row.site_id, candidate, now) as trial:
                found.update(_first(trial.changed_engine, row, words, trial.changed, trial.now))
    except SearchUnavailable as unavailable:
        return set(), unavailable.message
    except (NotFound, TrialsUnsupported) as error:
        return found, error.message
    return found, ""


def _first(engine: Searching, row: JudgementList, words: str, served: Served, now: datetime) -> list[str]:
    request = SearchRequest(words=words, per_page=row.pool_size, patient=True)
    planned = plan(words, served, now, redirects=False)
    (meaning,) = understand_served(engine, row.site_id, [words], served)
    search = UnderstoodSearch(request, planned, meaning)
    (found,) = search_understood(engine, row.site_id, [search], served.stop_words)
    return [str(hit.card.get("sku")) for hit in found.answer.result.hits]
