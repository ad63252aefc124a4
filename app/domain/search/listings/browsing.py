"""The listings of a shop: a category, a search, a collection, each one call to the engine; the first pages of a
category read from the database while search does not answer; and the search of programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from sqlalchemy import ColumnElement, Select, and_, func, or_, select

from app.domain.catalogue.models import Product, Variant
from app.domain.catalogue.queries import Lookup, products_for_sale, products_for_sale_by_id
from app.domain.merchandising.category_rules import SourceRule
from app.domain.merchandising.facets import Filter, default_facets, filters_of
from app.domain.merchandising.membership import any_of, shown_by
from app.domain.merchandising.models import Burial, Placement
from app.domain.merchandising.shop import Shop, ShownCollection
from app.domain.merchandising.tree import ShopNode
from app.domain.search.document_ids import product_document_id
from app.domain.search.engine import (
    MOST_FACET_VALUES,
    RESULT_WINDOW,
    Hit,
    IndexName,
    SearchEngine,
    SearchRequest,
    SearchResult,
    SearchUnavailable,
    Sort,
    ValueFilter,
)
from app.domain.search.index.documents import product_documents
from app.domain.search.listings import rail
from app.domain.search.listings.content import NO_CONTENT, ContentHits, content_hits
from app.domain.search.listings.links import ListingLinks
from app.domain.search.listings.listing import (
    ListingGrammar,
    ListingRequest,
    is_listing_parameter,
    read_listing,
    search_request,
)
from app.domain.search.listings.understood import (
    OfferedFilter,
    applied_meaning,
    decide,
    offer_filters,
    understood_request,
    without_respelled_parts,
)
from app.domain.search.ranking.interleaving import DraftKey, Side
from app.domain.search.ranking_settings import ranking_of
from app.domain.search.serving.interleaved import Contest, Interleaved, search_interleaved
from app.domain.search.serving.plan import Plan, Served, plan
from app.domain.search.serving.query import UnderstoodSearch, search_products, search_understood
from app.domain.search.understanding.facts import QueryReader
from app.domain.search.understanding.parts import Understanding
from app.domain.shared.paging import Paged
from app.domain.shared.problems import NotFound
from app.domain.shared.text import numbered
from app.extensions import db

SORT_LABELS = {
    Sort.RELEVANCE: "Best match",
    Sort.FEATURED: "Featured",
    Sort.PRICE_ASC: "Price, low to high",
    Sort.PRICE_DESC: "Price, high to low",
    Sort.NEWEST: "Newest",
    Sort.NAME: "Name",
}
WINDOW = 240  # Products of a category that can be paged through; the rest waits for search.


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of a list of products with its filters, chips and links. `window` is how many products of the list can be
    paged through; `draft` is that of an interleaved search."""

    request: ListingRequest
    result: SearchResult
    page_size: int
    groups: tuple[rail.FilterGroup, ...]
    chips: tuple[rail.Chip, ...]
    window: int
    links: ListingLinks
    draft: DraftKey | None = None

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
        return self.links.to(replace(self.request, words_alone=words_alone, draft=self.draft).at_page(page))

    @property
    def filter_address(self) -> str:
        """The address of the first page by its filters, which the links of values change, even where the list has a
        page for itself."""
        return self.request.at_page(1).url()

    @property
    def applied_address(self) -> str:
        """The address of the first page, that of the page which the list has for itself where there is one."""
        return self.links.to(self.request.at_page(1))

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
    """The answer to a search: products, pages and collections beside them, and the plan by which they were found.
    `offers` are filters that the words may mean and that are not applied. An interleaved one has the `sides` of its
    first products, in their order."""

    listing: Listing
    content: ContentHits
    plan: Plan
    offers: tuple[OfferedFilter, ...] = ()
    sides: tuple[Side | None, ...] | None = None

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
    """Return a page of a category's products. Those placed by hand come first; behind the others come sold-out ones
    where the site wants that, and then buried ones. Raises NotFound past the last page and SearchUnavailable."""
    filters = filters_of(shop.tree.facets(node.id), shop.attributes)
    result = engine.search(shop.site_id, IndexName.PRODUCTS, category_search(shop, node, request, filters))
    return _listing_of(shop, request, filters, result, links)


def category_search(
    shop: Shop, node: ShopNode, request: ListingRequest, filters: Sequence[Filter] = ()
) -> SearchRequest:
    """Return the request to the engine for a page of a category's products."""
    scope = (ValueFilter("category", (str(node.id),)),)
    is_own_order = request.order is Sort.FEATURED
    first = tuple(map(product_document_id, shop.hand_made_order(node.id) if is_own_order else ()))
    last = tuple(map(product_document_id, shop.burials.get(node.id, ()) if is_own_order else ()))
    search = search_request(request, page_size_of(shop, request), filters, scope, first, last)
    return replace(search, ranking=ranking_of(shop.settings))


def search_listing(
    engine: SearchEngine,
    shop: Shop,
    request: ListingRequest,
    served: Served,
    now: datetime,
    *,
    planned: Plan | None = None,
    known_meaning: bool = False,
    patient: bool = False,
    reader: QueryReader | None = None,
    contest: Contest | None = None,
) -> SearchPage:
    """Return a page of the products that a search finds by the serving configuration, the first page with the pages and
    collections beside them where the site wants that. Where one of those answers the words, no other spelling is
    searched for products, on any page. `planned` is the plan of the words, where the caller has made it; a redirect is
    part of it and not followed. `known_meaning` and `patient` as in SearchRequest. `reader` understands prices,
    sizes, values and brands among the words, as the serving configuration says. With a `contest` the order is
    interleaved, unless words of the search are filters. Raises NotFound past the last page and SearchUnavailable."""
    if planned is None:
        planned = plan(request.words, served, now)
    if request.words_alone:
        planned = replace(planned, by_meaning=False)
    mode = served.understanding
    meaning, request = decide(engine, request, mode, reader)
    applied = applied_meaning(meaning, mode)
    filters = _search_filters(shop, applied)
    content = _content_of(engine, shop, request.words)
    page_size = page_size_of(shop, request)
    search = replace(
        search_request(request, page_size, filters),
        correct=not content.answer(request.words),
        similar_below=page_size,
        known_meaning=known_meaning,
        patient=patient,
    )
    understood = UnderstoodSearch(search, planned, applied)
    found, was_emptied = _find(engine, shop.site_id, understood, served, None if applied else contest, now)
    if not was_emptied:
        request = understood_request(request, applied, mode)
    # Offers of words that were found in another spelling are counted in that one.
    counted = replace(search, suggest=found.result.corrected)
    offered = replace(understood, request=counted, understanding=meaning)
    offers = offer_filters(engine, shop.site_id, offered, served.stop_words, request, mode)
    result = without_respelled_parts(found.result, meaning)
    listing = _listing_of(shop, request, filters, result, ListingLinks(request.path))
    listing = replace(listing, draft=contest.key if contest is not None and found.sides is not None else None)
    beside = content.beside(found.result, request.words) if request.page == 1 else NO_CONTENT
    return SearchPage(listing, beside, planned, offers, found.sides)


def _content_of(engine: SearchEngine, shop: Shop, words: str) -> ContentHits:
    """Return the pages and collections that words find, where the site searches them. The first page of results alone
    shows them, but on every page they decide which spelling is searched."""
    is_wanted = words and shop.settings["search-content-enabled"]
    return content_hits(engine, shop.site_id, words) if is_wanted else NO_CONTENT


def _find(
    engine: SearchEngine,
    site_id: int,
    search: UnderstoodSearch,
    served: Served,
    contest: Contest | None,
    now: datetime,
) -> tuple[Interleaved, bool]:
    """Return the products of a search, and whether its filters would have left none, so that words were searched."""
    if contest is not None:
        request, planned = search.request, search.plan
        return search_interleaved(engine, site_id, request, planned, served.stop_words, contest, now), False
    answered = search_understood(engine, site_id, [search], served.stop_words)[0]
    return Interleaved(answered.answer.result), answered.was_emptied


def _search_filters(shop: Shop, meaning: Understanding) -> tuple[Filter, ...]:
    """Return the filters beside results: those of the settings, then those of attributes that the words mean."""
    shown = list(shop.settings["search-default-filters"])
    beside = sorted(name for name in meaning.facet_ids if name in shop.attributes and name not in shown)
    return filters_of(default_facets([*shown, *beside], shop.attributes), shop.attributes)


def collection_listing(
    engine: SearchEngine, shop: Shop, collection: ShownCollection, request: ListingRequest
) -> Listing:
    """Return a page of the products of a collection that are for sale, in its own order; of the request only the page
    counts. Raises NotFound past the last page and SearchUnavailable."""
    scope = (ValueFilter("collection", (str(collection.id),)),)
    first = tuple(map(product_document_id, collection.product_ids))
    page = ListingRequest(path=request.path, page=request.page)
    search = search_request(page, page_size_of(shop, page), (), scope, first)
    result = engine.search(shop.site_id, IndexName.PRODUCTS, search)
    return _listing_of(shop, page, (), result, ListingLinks(request.path))


def is_past_window(shop: Shop, request: ListingRequest) -> bool:
    """Whether the page lies behind the products that a search returns, however many the list has."""
    return (request.page - 1) * page_size_of(shop, request) >= RESULT_WINDOW


def page_size_of(shop: Shop, request: ListingRequest) -> int:
    size: int = request.page_size or shop.settings["listing-page-size"]
    return size


def _listing_of(
    shop: Shop, request: ListingRequest, filters: Sequence[Filter], result: SearchResult, links: ListingLinks
) -> Listing:
    """Return the listing that shows a result. Its chips also name filters that an address chose and the rail lacks.
    Raises NotFound past the last page."""
    beside = {*dict(request.values), *dict(request.spans)} - {filter.facet_id for filter in filters}
    all_filters = [*filters, *filters_of(default_facets(sorted(beside), shop.attributes), shop.attributes)]
    listing = Listing(
        request,
        result,
        page_size_of(shop, request),
        rail.groups(filters, request, result, links),
        rail.chips(all_filters, request, links),
        RESULT_WINDOW,
        links,
    )
    if request.page > listing.last_page and not listing.is_past_window:
        raise NotFound("This list does not have so many pages.")
    return listing


@dataclass(frozen=True, slots=True)
class CategoryCounts:
    """`is_complete` says that a category without a count shows no product; otherwise it is not known."""

    counts: Mapping[int, int] = field(default_factory=dict)
    is_complete: bool = False

    @property
    def is_search_away(self) -> bool:
        return not self.counts and not self.is_complete

    def of(self, node_id: int) -> int | None:
        return self.counts.get(node_id, 0 if self.is_complete else None)


def category_counts(engine: SearchEngine, site_id: int, *, fresh: bool = False) -> CategoryCounts:
    """Return the counts of all categories, in one call. None is known while search does not answer. `fresh` waits for
    what was just written."""
    everything = SearchRequest(facets=("category",), per_page=0, fresh=fresh)
    try:
        result = engine.search(site_id, IndexName.PRODUCTS, everything)
    except SearchUnavailable:
        return CategoryCounts()
    found = result.facets.get("category", ())
    return CategoryCounts(
        {int(value): count for value, count in found if value.isdigit()}, len(found) < MOST_FACET_VALUES
    )


def plain_category_listing(shop: Shop, node: ShopNode, request: ListingRequest, links: ListingLinks) -> Listing:
    """Return the same products in the same order as `category_listing`, with the cards that the index would hold and
    without filters, read from the database. Raises NotFound past the last page and SearchUnavailable for what only
    search can do."""
    if request.is_filtered or request.words:
        raise SearchUnavailable("Search does not answer, so nothing can be filtered.")
    shown = _products_shown_in(shop, node)
    total = _count(shown)
    size = page_size_of(shop, request)
    first = (request.page - 1) * size
    if first and first >= total:
        raise NotFound("This list does not have so many pages.")
    if first >= WINDOW:
        raise SearchUnavailable("Search does not answer, so only the first pages of a category can be shown.")
    ordered = _in_order(shop, shown, node, request.order)
    ids = list(db.session.scalars(ordered.offset(first).limit(min(size, WINDOW - first))))
    cards = {document.id: document.card for document in product_documents(shop.site_id, ids)}
    names = [product_document_id(product_id) for product_id in ids]
    hits = tuple(Hit(name, 0.0, cards[name]) for name in names if name in cards)
    return Listing(request, SearchResult(total, hits), size, groups=(), chips=(), window=WINDOW, links=links)


def _products_shown_in(shop: Shop, node: ShopNode) -> Select[int]:
    nodes = shop.tree.with_those_below(node.id)
    rules = [SourceRule(below.source_levels, below.source_manufacturers) for below in nodes]
    belongs = any_of(shown_by(shop.site_id, [below.id for below in nodes], rules, shop.taxonomy))
    return select(Product.id).where(Product.site_id == shop.site_id, Product.enabled, belongs)


def _count(shown: Select[int]) -> int:
    return db.session.scalar(select(func.count()).select_from(shown.subquery())) or 0


def _in_order(shop: Shop, shown: Select[int], node: ShopNode, sort: Sort) -> Select[int]:
    newest_first = Product.created_at.desc(), Product.id
    match sort:
        case Sort.PRICE_ASC:
            return shown.order_by(Product.price, Product.id)
        case Sort.PRICE_DESC:
            return shown.order_by(Product.price.desc(), Product.id)
        case Sort.NEWEST:
            return shown.order_by(*newest_first)
        case Sort.NAME:
            return shown.order_by(func.lower(Product.name), Product.id)
    buried, is_buried = and_(Burial.product_id == Product.id, Burial.node_id == node.id), Burial.product_id.is_not(None)
    by_hand = and_(Placement.product_id == Product.id, Placement.node_id == node.id, ~is_buried)
    behind = [_is_sold_out() & Placement.position.is_(None)] if ranking_of(shop.settings).sold_out_last else []
    order = is_buried, Placement.position.is_(None), Placement.position, *behind, Product.featured.desc(), *newest_first
    return shown.outerjoin(Burial, buried).outerjoin(Placement, by_hand).order_by(*order)


def order_without_hand(shop: Shop, node: ShopNode, most: int) -> list[int]:
    """Return the ids of the first `most` products that a category shows, in the order that they would have if none of
    them were placed by hand or buried."""
    behind = [_is_sold_out()] if ranking_of(shop.settings).sold_out_last else []
    newest_first = Product.created_at.desc(), Product.id
    ordered = _products_shown_in(shop, node).order_by(*behind, Product.featured.desc(), *newest_first)
    return list(db.session.scalars(ordered.limit(most)))


def _is_sold_out() -> ColumnElement[bool]:
    """Return the condition that a product is sold out, as `is_in_stock` has it: no variant of it can be sold or, where
    it has none, nothing is left of it."""
    of_product = select(Variant.id).where(Variant.product_id == Product.id)
    sells = of_product.where(or_(Variant.stock.is_(None), Variant.stock > 0)).exists()
    return and_(~sells, or_(of_product.exists(), and_(Product.stock.is_not(None), Product.stock <= 0)))


def products_of_category(
    engine: SearchEngine, shop: Shop, node: ShopNode, page_number: int, page_size: int
) -> Paged[Product]:
    """Return a page of a category's products in the order in which shoppers see them first, read from the database
    while the engine does not answer."""
    request = ListingRequest(path="", page=page_number, page_size=page_size)
    try:
        result = engine.search(shop.site_id, IndexName.PRODUCTS, category_search(shop, node, request))
    except SearchUnavailable:
        shown = _products_shown_in(shop, node)
        page = _in_order(shop, shown, node, request.order).offset((page_number - 1) * page_size).limit(page_size)
        ids, total = list(db.session.scalars(page)), _count(shown)
    else:
        ids, total = [int(str(hit.card["id"])) for hit in result.hits], result.total
    return Paged(products_for_sale_by_id(shop.site_id, ids), page_number, page_size, total)


def products_by_words(
    engine: SearchEngine, site_id: int, words: str, served: Served, now: datetime, page_number: int, page_size: int
) -> Paged[Product]:
    """Return a page of the products that a search finds, the best match first. The meaning of the words is waited for,
    so that all pages are of one order. Sold-out products are found even where shoppers do not see them, since tills
    sell them too. While the engine does not answer, the products that contain each of the words, by name."""
    request = SearchRequest(words=words, page=page_number, per_page=page_size, patient=True)
    planned = plan(words, replace(served, ranking=served.ranking.without_hiding()), now, redirects=False)
    try:
        result = search_products(engine, site_id, request, planned, served.stop_words).result
    except SearchUnavailable:
        return products_for_sale(site_id, Lookup(words=words), page_number, page_size)
    ids = [int(str(hit.card["id"])) for hit in result.hits]
    return Paged(products_for_sale_by_id(site_id, ids), page_number, page_size, result.total)
