"""The understood words of a search as filters of its listing: what the shopper chose or took back, what is applied, and
what is offered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.domain.search.engine import SearchEngine, SearchResult
from app.domain.search.listings.listing import PRICE, ListingRequest, Span, UnderstoodFilter
from app.domain.search.serving.query import UnderstoodSearch, narrow, search_many_products
from app.domain.search.understanding.facts import QueryReader
from app.domain.search.understanding.parts import FilterPart, PartKind, Understanding, UnderstandingMode


@dataclass(frozen=True, slots=True)
class OfferedFilter:
    """A filter that the words of a search may mean; its link applies it. `count` products are left by it."""

    label: str
    shown: str
    count: int
    url: str


def decide(
    engine: SearchEngine, request: ListingRequest, mode: UnderstandingMode, reader: QueryReader | None
) -> tuple[Understanding, ListingRequest]:
    """Return what is left to understand of a search after what the shopper decided, and the request with the decisions:
    a facet whose field was sent empty was cleared, and its words stay words. Where filters are only suggested, so do
    those of a facet that the shopper filters by without an offer, since the counts beside the results are of all the
    words. Nothing is understood without a reader or where the site has it off."""
    if reader is None or mode is UnderstandingMode.OFF or not request.words:
        return Understanding.NOTHING, request
    meaning = reader.understand(engine, request.words)
    chosen = {*dict(request.values), *dict(request.spans)} | ({PRICE} if request.price else set())
    cleared = {name for name in meaning.facet_ids - chosen if _was_sent(request, name)}
    request = replace(request, kept_words=tuple(sorted(cleared.union(request.kept_words))))
    own = chosen.difference(request.filter_words) if mode is UnderstandingMode.SUGGESTED else set()
    return meaning.without_facets(own.union(request.kept_words)).with_chosen(chosen), request


def _was_sent(request: ListingRequest, facet_id: str) -> bool:
    return any(name in request.given for name in (facet_id, f"{facet_id}_min", f"{facet_id}_max"))


def applied_meaning(meaning: Understanding, mode: UnderstandingMode) -> Understanding:
    """Return what is applied of what the words mean: all of it, or where it is only suggested the offers that the
    shopper took, and with them the kind of product."""
    if mode is UnderstandingMode.ON:
        return meaning
    chosen = meaning.chosen_alone
    return replace(chosen, parts=(*chosen.parts, *_level_of(meaning))) if chosen else chosen


def _level_of(meaning: Understanding) -> list[FilterPart]:
    return [part for part in meaning.parts if part.kind is PartKind.LEVEL]


def understood_request(request: ListingRequest, applied: Understanding, mode: UnderstandingMode) -> ListingRequest:
    """Return a listing's request with the filters that its words mean. Where all are applied, those that the shopper
    chose are among them: once cleared, they must not come back."""
    parts = applied.parts if mode is UnderstandingMode.ON else applied.narrowing
    return request.with_understood(understood_filters(parts))


def understood_filters(parts: Sequence[FilterPart]) -> list[UnderstoodFilter]:
    """Return the filters of parts, one for each facet."""
    by_facet: dict[str, list[FilterPart]] = {}
    for part in parts:
        by_facet.setdefault(part.facet_id, []).append(part)
    return [_filter_of(facet_id, found) for facet_id, found in by_facet.items()]


def _filter_of(facet_id: str, parts: Sequence[FilterPart]) -> UnderstoodFilter:
    shown = ", ".join(dict.fromkeys(part.shown for part in parts))
    values = tuple(sorted({part.value for part in parts if part.value is not None}))
    span = Span() if values else Span(parts[0].low, parts[0].high)
    return UnderstoodFilter(facet_id, parts[0].label, shown, values, span)


def without_respelled_parts(result: SearchResult, meaning: Understanding) -> SearchResult:
    """Return a result that suggests no other spelling of words that are understood: “300 pounds” are no ponds."""
    if result.corrected or not result.suggestion or not meaning:
        return result
    return replace(result, suggestion=meaning.keep_understood_words(result.suggestion))


def offered_parts(meaning: Understanding, mode: UnderstandingMode) -> list[FilterPart]:
    """Return the parts that are offered. A kind of product has no filter of its own that an address could name."""
    if mode is not UnderstandingMode.SUGGESTED:
        return []
    return [part for part in meaning.narrowing if part.kind is not PartKind.LEVEL]


def offer_filters(
    engine: SearchEngine,
    site_id: int,
    search: UnderstoodSearch,
    stop_words: frozenset[str],
    request: ListingRequest,
    mode: UnderstandingMode,
) -> tuple[OfferedFilter, ...]:
    """Return the offers for the parts of a search that are not applied, each with the number of products that it
    leaves; those that leave none are not offered. They stand on the first page. The meaning of their words counts where
    it is known, and is not computed for them. Raises SearchUnavailable."""
    parts = offered_parts(search.understanding, mode)
    if not parts or request.page > 1:
        return ()
    plain = replace(search.request, page=1, per_page=0, facets=(), range_facets=(), similar_below=0, known_meaning=True)
    searches = [
        narrow(UnderstoodSearch(plain, search.plan, _taken(search.understanding, part, mode))) for part in parts
    ]
    counts = [found.result.total for found in search_many_products(engine, site_id, searches, stop_words)]
    return tuple(
        OfferedFilter(part.label, part.shown, count, _take(request, part).url())
        for part, count in zip(parts, counts, strict=True)
        if count
    )


def _taken(meaning: Understanding, part: FilterPart, mode: UnderstandingMode) -> Understanding:
    """Return what is applied once the shopper takes the offer of a part, with its filter."""
    applied = applied_meaning(meaning.with_chosen({part.facet_id}), mode)
    return replace(applied, parts=(*applied.parts, part))


def _take(request: ListingRequest, part: FilterPart) -> ListingRequest:
    request = request.with_filter_words(part.facet_id)
    if part.value is not None:
        return request.with_value(part.facet_id, part.value)
    span = Span(part.low, part.high)
    if part.facet_id == PRICE:
        return replace(request, price=span, page=1)
    return request.with_span(part.facet_id, span)
