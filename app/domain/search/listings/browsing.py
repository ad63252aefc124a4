"""The listings of a shop: a category, a search, a collection; each one call to the engine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from app.domain.merchandising.facets import Filter, default_facets, filters_of
from app.domain.merchandising.shop import Shop, ShownCollection
from app.domain.merchandising.tree import Display, ShopNode
from app.domain.search.engine import (
    RESULT_WINDOW,
    IndexName,
    SearchEngine,
    SearchRequest,
    SearchResult,
    Sort,
    ValueFilter,
)
from app.domain.search.listings import rail
from app.domain.search.listings.content_hits import NO_CONTENT, ContentHits, content_hits
from app.domain.search.listings.links import ListingLinks
from app.domain.search.listings.listing import ListingRequest, search_request
from app.domain.search.listings.listing_parameters import ListingGrammar, is_listing_parameter, read_listing
from app.domain.search.ranking_settings import ranking_of
from app.domain.search.serving.plan import Plan, plan
from app.domain.search.serving.query import search_products
from app.domain.search.serving.served import Served
from app.domain.shared.counts import numbered
from app.domain.shared.problems import NotFound

SORT_LABELS = {
    Sort.RELEVANCE: "Best match",
    Sort.FEATURED: "Featured",
    Sort.PRICE_ASC: "Price, low to high",
    Sort.PRICE_DESC: "Price, high to low",
    Sort.NEWEST: "Newest",
    Sort.NAME: "Name",
}


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of a list of products with its filters, chips and links. `window` is how many products of the list can be
    paged through."""

    request: ListingRequest
    result: SearchResult
    page_size: int
    groups: tuple[rail.FilterGroup, ...]
    chips: tuple[rail.Chip, ...]
    window: int
    links: ListingLinks

    @property
    def total(self) -> int:
        return self.result.total

    @property
    def last_page(self) -> int:
        """The last page that can be shown; a long list goes on behind it."""
        return max(1, -(-min(self.result.total, self.window) // self.page_size))

    def page_address(self, page: int) -> str:
        """Return the address of another page of the same order."""
        words_alone = self.request.words_alone or self.result.lacks_meaning
        return self.links.to(replace(self.request, words_alone=words_alone).at_page(page))

    @property
    def is_past_window(self) -> bool:
        """Whether the page lies behind the window, so that it shows nothing, although the list has products there."""
        return self.request.page > self.last_page and (self.request.page - 1) * self.page_size < self.result.total

    @property
    def pages(self) -> tuple[int | None, ...]:
        return rail.pages(self.request.page, self.last_page)

    @property
    def sorts(self) -> list[tuple[Sort, str]]:
        return [(sort, label) for sort, label in SORT_LABELS.items() if self.request.words or sort != Sort.RELEVANCE]


@dataclass(frozen=True, slots=True)
class SearchPage:
    """The answer to a search: products, pages and collections beside them, and the plan by which they were found."""

    listing: Listing
    content: ContentHits
    plan: Plan

    @property
    def words(self) -> str:
        return self.listing.request.words

    @property
    def searched(self) -> str:
        result = self.listing.result
        return result.suggestion if result.corrected and result.suggestion else self.words

    @property
    def is_answered_by_content(self) -> bool:
        """Whether a page or a collection answers the search, and no product does."""
        return not self.listing.total and bool(self.content.titled)

    @property
    def pages_alone(self) -> str:
        """Describe the pages and collections of a search that finds no products, “2 pages mention “zip””; empty where
        it finds products, or no pages, or where its filters may be why it finds no products."""
        number = self.content.total
        if self.listing.total or self.listing.request.is_filtered or not number:
            return ""
        return f"{numbered(number, 'page')} {'mentions' if number == 1 else 'mention'} “{self.content.searched}”"

    @property
    def pages_heading(self) -> str:
        """Return the heading of a search that finds nothing but pages that mention its words; empty for any other."""
        return f"No products; {self.pages_alone}" if self.pages_alone and not self.content.titled else ""


def read_request(shop: Shop, path: str, parameters: Iterable[tuple[str, str]]) -> ListingRequest:
    """Return the listing request of an address. Raises Invalid when its parameters are too many or too long."""
    grammar = ListingGrammar(
        value_facets=shop.value_facets,
        number_facets=shop.number_facets,
        page_size=shop.settings["listing-page-size"],
        currency=shop.currency,
        extra_tracking=extra_tracking(shop),
    )
    return read_listing(path, parameters, grammar)


def extra_tracking(shop: Shop) -> frozenset[str]:
    """Return the site's own parameters that only track visitors, without those that have become filters since."""
    extra = shop.settings["seo-extra-tracking-parameters"]
    return frozenset(name for name in extra if not is_listing_parameter(name, shop.value_facets, shop.number_facets))


def category_listing(
    engine: SearchEngine, shop: Shop, node: ShopNode, request: ListingRequest, links: ListingLinks
) -> Listing:
    """Return a page of a category's products. Those placed by hand come first, sold-out ones last where the site wants
    that. Raises NotFound past the last page and SearchUnavailable."""
    scope = (ValueFilter("category", (str(node.id),)),)
    by_hand = shop.hand_made_order(node.id) if request.order is Sort.FEATURED else ()
    first = tuple(f"p{id}" for id in by_hand)
    filters = filters_of(shop.tree.facets(node.id), shop.attributes)
    search = replace(_request(shop, request, filters, scope, first), ranking=ranking_of(shop.settings))
    return _answered(engine, shop, request, filters, search, links)


def search_listing(
    engine: SearchEngine,
    shop: Shop,
    request: ListingRequest,
    served: Served,
    now: datetime,
    *,
    known_meaning: bool = False,
) -> SearchPage:
    """Return a page of the products that a search finds by the serving configuration, the first page with the pages and
    collections beside them where the site wants that. Where one of those answers the words, no other spelling is
    searched for products, on any page. `known_meaning` as in SearchRequest. A redirect is part of the plan and not
    followed. Raises NotFound past the last page and SearchUnavailable."""
    planned = plan(request.words, served, now)
    if request.words_alone:
        planned = replace(planned, by_meaning=False)
    filters = filters_of(default_facets(shop.settings["search-default-filters"], shop.attributes), shop.attributes)
    content = _content(engine, shop, request)
    search = replace(
        _request(shop, request, filters),
        correct=not content.answer(request.words),
        similar_below=page_size_of(shop, request),
        known_meaning=known_meaning,
    )
    result = search_products(engine, shop.site_id, search, planned, served.stop_words).result
    listing = _shown(shop, request, filters, result, ListingLinks(request.path))
    return SearchPage(listing, content.beside(result, request.words) if request.page == 1 else NO_CONTENT, planned)


def collection_listing(
    engine: SearchEngine, shop: Shop, collection: ShownCollection, request: ListingRequest
) -> Listing:
    """Return a page of the products of a collection that are for sale, in its own order; of the request only the page
    counts. Raises NotFound past the last page and SearchUnavailable."""
    scope = (ValueFilter("collection", (str(collection.id),)),)
    first = tuple(f"p{id}" for id in collection.product_ids)
    page = ListingRequest(path=request.path, page=request.page)
    return _answered(engine, shop, page, (), _request(shop, page, (), scope, first), ListingLinks(request.path))


def is_past_window(shop: Shop, request: ListingRequest) -> bool:
    """Whether the page lies behind the products that a search returns, however many the list has."""
    return (request.page - 1) * page_size_of(shop, request) >= RESULT_WINDOW


def _answered(
    engine: SearchEngine,
    shop: Shop,
    request: ListingRequest,
    filters: Sequence[Filter],
    search: SearchRequest,
    links: ListingLinks,
) -> Listing:
    result = engine.search(shop.site_id, IndexName.PRODUCTS, search)
    return _shown(shop, request, filters, result, links)


def _request(
    shop: Shop,
    request: ListingRequest,
    filters: Sequence[Filter],
    scope: tuple[ValueFilter, ...] = (),
    first: tuple[str, ...] = (),
) -> SearchRequest:
    return search_request(
        request,
        page_size_of(shop, request),
        scope,
        facets=tuple(f.facet_id for f in filters if f.display is not Display.RANGE),
        range_facets=tuple(f.facet_id for f in filters if f.display is Display.RANGE),
        first=first,
    )


def page_size_of(shop: Shop, request: ListingRequest) -> int:
    size: int = request.page_size or shop.settings["listing-page-size"]
    return size


def _shown(
    shop: Shop, request: ListingRequest, filters: Sequence[Filter], result: SearchResult, links: ListingLinks
) -> Listing:
    """Return the listing that shows a result. Raises NotFound past the last page."""
    listing = Listing(
        request,
        result,
        page_size_of(shop, request),
        rail.groups(filters, request, result, links),
        rail.chips(_all_filters(filters, request, shop), request, links),
        RESULT_WINDOW,
        links,
    )
    if request.page > listing.last_page and not listing.is_past_window:
        raise NotFound("This list does not have so many pages.")
    return listing


def _all_filters(filters: Sequence[Filter], request: ListingRequest, shop: Shop) -> Sequence[Filter]:
    """The rail's filters and those that an address chose beside them, for the names on the chips."""
    beside = {*dict(request.values), *dict(request.spans)} - {filter.facet_id for filter in filters}
    return [*filters, *filters_of(default_facets(sorted(beside), shop.attributes), shop.attributes)]


def _content(engine: SearchEngine, shop: Shop, request: ListingRequest) -> ContentHits:
    """Return the content for the words, where the site wants that. The first page alone shows it, but on every page it
    decides which spelling is searched."""
    if not shop.settings["search-content-enabled"] or not request.words:
        return NO_CONTENT
    return content_hits(engine, shop.site_id, request.words)
