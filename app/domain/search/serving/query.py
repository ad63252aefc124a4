"""The one way to search products by words: the request gets synonyms, stop words, ranking settings, what was learned
and the places of a rule, then an engine answers it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from sqlalchemy import select
from sqlalchemy.exc import OperationalError

from app.domain.catalogue.models import Product
from app.domain.search.document_ids import product_document_id
from app.domain.search.engine import Hit, IndexName, Pin, Searching, SearchRequest, SearchResult, ValueFilter
from app.domain.search.ranking.scoring import IN_STOCK, YES
from app.domain.search.ranking_settings import RankingSettings
from app.domain.search.serving.plan import Plan, Served, factors_of, plan
from app.domain.search.text import query_words
from app.domain.search.understanding.facts import reader_of_site
from app.domain.search.understanding.parts import Understanding, UnderstandingMode
from app.extensions import db

TEN = 10
SELLING = ValueFilter(IN_STOCK, (YES,))


@dataclass(frozen=True, slots=True)
class Answered:
    """A result with the request that the engine answered, which has the corrected words where those were expanded."""

    result: SearchResult
    request: SearchRequest


@dataclass(frozen=True, slots=True)
class UnderstoodSearch:
    """A search of products with what its words mean."""

    request: SearchRequest
    plan: Plan
    understanding: Understanding = Understanding.NOTHING


@dataclass(frozen=True, slots=True)
class UnderstoodAnswer:
    """An answer, and what of the words was applied. `was_emptied`: as filters they would have left no product."""

    answer: Answered
    applied: Understanding = Understanding.NOTHING
    was_emptied: bool = False


@dataclass(frozen=True, slots=True)
class FirstTen:
    """The first ten products of a search, or as many as were requested, as shoppers see them."""

    total: int
    hits: tuple[Hit, ...]
    plan: Plan
    result: SearchResult


def search_products(
    engine: Searching, site_id: int, request: SearchRequest, plan: Plan, stop_words: frozenset[str] = frozenset()
) -> Answered:
    """Return the answer to one search of products. `request` has words, filters and page; the plan adds the rest.
    Raises SearchUnavailable."""
    return search_many_products(engine, site_id, [(request, plan)], stop_words)[0]


def search_many_products(
    engine: Searching,
    site_id: int,
    searches: Sequence[tuple[SearchRequest, Plan]],
    stop_words: frozenset[str] = frozenset(),
) -> list[Answered]:
    """Return the answers in the order of the searches. A corrected spelling is expanded and searched again. Raises
    SearchUnavailable."""
    requests = [expand_request(site_id, request, planned, stop_words) for request, planned in searches]
    results = engine.search_many(site_id, IndexName.PRODUCTS, requests)
    answers = [Answered(result, request) for result, request in zip(results, requests, strict=True)]
    again: dict[int, SearchRequest] = {}
    for place, (result, (request, planned)) in enumerate(zip(results, searches, strict=True)):
        if result.corrected and result.suggestion:
            expansion = planned.synonyms.expand(result.suggestion)
            if expansion.alternatives:
                corrected = replace(request, words=result.suggestion, prefix_last=False)
                again[place] = expand_request(site_id, corrected, replace(planned, expansion=expansion), stop_words)
    if again:
        widened = engine.search_many(site_id, IndexName.PRODUCTS, list(again.values()))
        for (place, request), result in zip(again.items(), widened, strict=True):
            suggestion = results[place].suggestion
            answers[place] = Answered(replace(result, suggestion=suggestion, corrected=True), request)
    return answers


def narrow(search: UnderstoodSearch) -> tuple[SearchRequest, Plan]:
    """Return the request and the plan with the understood parts as filters. Synonyms widen the words that are left."""
    request, planned, understanding = search.request, search.plan, search.understanding
    if not understanding:
        return request, planned
    words = understanding.searched
    if words != request.words:
        planned = replace(planned, expansion=planned.synonyms.expand(words))
    narrowed = replace(
        request,
        words=words,
        filters=(*request.filters, *understanding.filters),
        ranges=(*request.ranges, *understanding.ranges),
        optional=request.optional | understanding.optional,
    )
    return narrowed, planned


def search_understood(
    engine: Searching, site_id: int, searches: Sequence[UnderstoodSearch], stop_words: frozenset[str] = frozenset()
) -> list[UnderstoodAnswer]:
    """Return the answers in the order of the searches, a better spelling with all the words that were typed. Where the
    understood parts leave no product but pinned ones, their words are searched as they were typed. Raises
    SearchUnavailable."""
    narrowed = search_many_products(engine, site_id, [narrow(search) for search in searches], stop_words)
    answers = [UnderstoodAnswer(found, one.understanding) for found, one in zip(narrowed, searches, strict=True)]
    emptied = {place: _as_typed(searches[place], answers[place]) for place in _emptied(engine, site_id, answers)}
    if emptied:
        again = search_many_products(engine, site_id, [narrow(search) for search in emptied.values()], stop_words)
        for (place, search), found in zip(emptied.items(), again, strict=True):
            lacks_meaning = found.result.lacks_meaning or answers[place].answer.result.lacks_meaning
            found = replace(found, result=replace(found.result, lacks_meaning=lacks_meaning))
            answers[place] = UnderstoodAnswer(found, search.understanding, was_emptied=True)
    return [_with_whole_suggestion(one) for one in answers]


def _emptied(engine: Searching, site_id: int, answers: Sequence[UnderstoodAnswer]) -> list[int]:
    """Return the places of the answers whose understood parts leave no product but pinned ones."""
    narrowed = [place for place, one in enumerate(answers) if one.applied.narrowing]
    totals = {place: answers[place].answer.result.total for place in narrowed}
    unsure = [place for place in narrowed if 0 < totals[place] <= len(answers[place].answer.request.pins)]
    if unsure:
        requests = [_without_pins(answers[place].answer) for place in unsure]
        results = engine.search_many(site_id, IndexName.PRODUCTS, requests)
        totals |= {place: result.total for place, result in zip(unsure, results, strict=True)}
    return [place for place in narrowed if not totals[place]]


def _without_pins(answered: Answered) -> SearchRequest:
    """Return the request for how many products are found without the pinned ones."""
    by_meaning = answered.request.by_meaning and not answered.result.lacks_meaning
    plain = replace(answered.request, pins=(), by_meaning=by_meaning, similar_below=0, explain=False)
    return replace(plain, page=1, per_page=0, facets=(), range_facets=())


def _as_typed(search: UnderstoodSearch, emptied: UnderstoodAnswer) -> UnderstoodSearch:
    """Return the search whose understood parts are words. One that was found empty without its meaning stays without
    it, as its later pages do."""
    planned = search.plan
    if emptied.answer.result.lacks_meaning:
        planned = replace(planned, by_meaning=False)
    return replace(search, plan=planned, understanding=emptied.applied.chosen_alone)


def _with_whole_suggestion(one: UnderstoodAnswer) -> UnderstoodAnswer:
    result = one.answer.result
    if not one.applied or not result.suggestion:
        return one
    whole = replace(result, suggestion=one.applied.with_taken_words(result.suggestion))
    return replace(one, answer=replace(one.answer, result=whole))


def understander(engine: Searching, site_id: int, served: Served) -> Callable[[str], Understanding]:
    """Return the function that says what of a search is applied for shoppers: nothing unless the site has it on. It
    keeps what it reads of the shop and its index, so one serves many searches."""
    if served.understanding is not UnderstandingMode.ON:
        return lambda _words: Understanding.NOTHING
    return partial(reader_of_site(site_id).understand, engine)


def understand_served(engine: Searching, site_id: int, searches: Sequence[str], served: Served) -> list[Understanding]:
    """Return what of each search is applied for shoppers."""
    understand = understander(engine, site_id, served)
    return [understand(words) for words in searches]


def expand_request(
    site_id: int, request: SearchRequest, plan: Plan, stop_words: frozenset[str] = frozenset()
) -> SearchRequest:
    """Return the request with synonyms, stop words, ranking settings, what was learned and the places of a rule. Hidden
    products are outside of its scope, so that they are neither found nor counted, and no pin brings them back. SKUs are
    looked up in one query, only where a rule names them; while the database does not answer, none is placed."""
    if plan.ranking != RankingSettings.DEFAULT:
        is_narrowed = plan.ranking.hides_sold_out and SELLING not in request.scope
        scope = (*request.scope, SELLING) if is_narrowed else request.scope
        request = replace(request, scope=scope, ranking=plan.ranking, day=plan.day)
    if plan.by_meaning:
        request = replace(request, by_meaning=True)
    if plan.learned:
        request = replace(request, learned=factors_of(plan.learned))
    if stop_words or plan.expansion.alternatives or plan.rules:
        optional = stop_words.intersection(query_words(request.words)) if stop_words else frozenset()
        request = replace(request, alternatives=plan.expansion.alternatives, optional=request.optional | optional)
    return _placed_by_rules(site_id, request, plan) if plan.rules else request


def _placed_by_rules(site_id: int, request: SearchRequest, plan: Plan) -> SearchRequest:
    applied = plan.applied
    groups = tuple(group.placed(is_boosted, plan.today) for is_boosted, group in applied.groups)
    request = replace(request, groups=groups) if groups else request
    if not applied.skus:
        return request
    try:
        ids = document_ids(site_id, applied.skus)
    except OperationalError:
        db.session.rollback()
        ids = {}
    return replace(
        request,
        pins=tuple(Pin(ids[pin.sku], pin.position) for pin in applied.pins if pin.sku in ids),
        boosts=tuple(ids[sku] for sku in applied.boosts if sku in ids),
        buries=tuple(ids[sku] for sku in applied.buries if sku in ids),
    )


def document_ids(site_id: int, skus: Iterable[str]) -> dict[str, str]:
    """Return the index's id of each product by its SKU; unknown SKUs are left out."""
    wanted = select(Product.sku, Product.id).where(Product.site_id == site_id, Product.sku.in_(set(skus)))
    return {row.sku: product_document_id(row.id) for row in db.session.execute(wanted)}


def first_ten(
    engine: Searching, site_id: int, words: str, served: Served, now: datetime, *, patient: bool = True
) -> FirstTen:
    """Return the first ten results of a search. A redirect is in the plan and not followed. Raises
    SearchUnavailable."""
    return first_tens(engine, site_id, [words], served, now, patient=patient)[0]


def first_tens(
    engine: Searching,
    site_id: int,
    searches: Sequence[str],
    served: Served,
    now: datetime,
    *,
    patient: bool = True,
    most: int = TEN,
) -> list[FirstTen]:
    """Return the first `most` results of each search, in the order of the searches. `patient` waits for the meaning of
    the words; otherwise that counts only where it is cached. Raises SearchUnavailable."""
    plans = [plan(words, served, now) for words in searches]
    requests = [
        SearchRequest(words=words, per_page=most, patient=patient, known_meaning=not patient) for words in searches
    ]
    meanings = understand_served(engine, site_id, searches, served)
    understood = [UnderstoodSearch(*one) for one in zip(requests, plans, meanings, strict=True)]
    results = (one.answer.result for one in search_understood(engine, site_id, understood, served.stop_words))
    return [FirstTen(r.total, r.hits, planned, r) for r, planned in zip(results, plans, strict=True)]
