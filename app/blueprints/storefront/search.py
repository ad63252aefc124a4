"""Search: the page of results for a shopper's words, suggestions below the search box as shoppers type, and popular
products below a search without results.

Suggestions are the part of a page that a script of the shop shows there; they are counted as suggestions and not as
searches. Popular products are drawn once for all searches, so that a program that tries words causes no work.
"""

from __future__ import annotations

from flask import Response, current_app, make_response, redirect, request
from markupsafe import Markup
from sqlalchemy.exc import SQLAlchemyError

from app import ports
from app.blueprints.callers import refuse_beyond
from app.blueprints.compression import compressed, quickly
from app.blueprints.storefront.attribution import is_a_shopper, note_search
from app.blueprints.storefront.blueprint import (
    POPULAR,
    RELATED_CACHE,
    SUGGESTION_DIRECTORY,
    SUGGESTIONS_CACHE,
    PackedMarkup,
    bp,
    current_shop,
    landing_pages_of,
    query_reader,
    served_configuration,
)
from app.blueprints.storefront.interleaving import compared_page, keep_private, participation
from app.blueprints.storefront.presentation import filters_answer, listing_answer, page_answer, wants_filters
from app.blueprints.storefront.rate_limit import may_use_model
from app.domain.merchandising.shop import Shop
from app.domain.search import settings
from app.domain.search.engine import SearchUnavailable
from app.domain.search.listings.browsing import read_request, search_listing
from app.domain.search.listings.recommendations import popular_products
from app.domain.search.serving.plan import plan
from app.domain.search.serving.rules import SEARCH_PATH
from app.domain.search.suggestions import Brand, Suggester, SuggestionDirectory, Suggestions, Typed, pieces, results_of
from app.domain.search_statistics.counting.daily_counts import SuggestionsShown
from app.domain.search_statistics.counting.days import day_at
from app.domain.search_statistics.popular import PopularCache, PopularSearches
from app.domain.seo.heads import search_head
from app.domain.shared.byte_cache import ByteCache
from app.domain.shared.problems import NotFound
from app.domain.shared.rate_limit import Rate
from app.web.htmx import redirect_page, wants_fragment
from app.web.permissions import public
from app.web.themes.drawing import current_theme, drawn

ACTION = "suggestions"
RATE = Rate(300)  # A minute; a fast typist makes five a second, for some seconds.
KEPT = 60  # Seconds that browsers cache suggestions, and the shop where only time makes them stale.
NEARLY_ALL = 0.9  # The share of a brand's products that makes a page the brand's page.
SECONDS_POPULAR = 3_600  # Best sellers are read anew each hour, since new orders change no version.

bp.add_app_template_filter(results_of, "results_of")


@bp.get("/search")
@public
def search() -> Response:
    shop = current_shop()
    listing_request = read_request(shop, SEARCH_PATH, request.args.items(multi=True))
    if not listing_request.words and not listing_request.is_filtered:
        return page_answer("storefront/search_start.html", search_head(shop, ""), shop=shop)
    served, now = served_configuration(shop), ports.clock().now()
    planned, engine = plan(listing_request.words, served, now), ports.search_engine()
    if planned.redirect is not None and not wants_filters():
        note_search(listing_request, (), None, ruled=True)
        # The redirect may not be cached: the rule that sends this search on can end any moment.
        response = redirect_page(planned.redirect) if wants_fragment() else make_response(redirect(planned.redirect))
        response.headers["Cache-Control"] = "no-store"
        return response
    known = not may_use_model()
    reader = query_reader(shop)
    part = participation(shop, listing_request, served) if not wants_filters() else None
    contest = part.contest if part is not None else None
    found = search_listing(
        engine, shop, listing_request, served, now, planned=planned, known_meaning=known, reader=reader, contest=contest
    )
    if wants_filters():
        return filters_answer(drawn("storefront/_rail.html", shop=shop, listing=found.listing))
    if listing_request.words:
        result = found.listing.result
        products = None if found.is_answered_by_content else result.total
        shown = [hit.id for hit in (*result.hits, *result.similar)]
        compared = compared_page(part, found.sides)
        note_search(listing_request, shown, products, ruled=found.plan.rule is not None, compared=compared)
    head = search_head(shop, found.words, found.pages_heading)
    context = {"shop": shop, "found": found, "listing": found.listing}
    return keep_private(listing_answer("storefront/search.html", "storefront/_search_swap.html", head, **context))


@bp.get("/search/suggest")
@public
def suggest() -> Response:
    """Return the suggestions for the typed text, and popular searches without any text; empty where there are none.
    Raises NotFound where the shop makes none."""
    shop = current_shop()
    if not shop.settings[settings.SUGGESTIONS]:
        raise NotFound("This shop makes no suggestions.")
    refuse_beyond(ACTION, RATE)
    html = _cached_suggestions(shop, Typed.read(request.args.getlist("q")))
    if html:
        _count_suggestions(shop)
    response = compressed(make_response(str(html)), quickly)
    response.headers["Cache-Control"] = f"public, max-age={KEPT}"
    return response


@bp.app_template_global("suggests")
def suggests(shop: Shop) -> bool:
    """Whether the shop makes suggestions."""
    return bool(shop.settings[settings.SUGGESTIONS])


def suggestions_for(shop: Shop, typed: Typed) -> Suggestions:
    """Return the suggestions of a shop for what is typed."""
    directory: SuggestionDirectory = current_app.extensions[SUGGESTION_DIRECTORY]
    names = _popular_searches(shop).names
    suggester = Suggester(ports.search_engine(), directory, names, lambda brand: _path_of_brand(shop, brand))
    return suggester.suggest(shop, typed, served_configuration(shop), ports.clock().now())


def _cached_suggestions(shop: Shop, typed: Typed) -> Markup:
    """Return the suggestions from the cache: drawn once for each state of the shop, its index, its served configuration
    and its popular searches."""
    clock, served = ports.clock(), served_configuration(shop)
    popular = _popular_searches(shop)
    state = (shop.version, shop.index_version, served.version, popular.version, int(clock.now().timestamp()) // KEPT)
    key = (current_theme().name, shop.site_id, *state, typed.text.casefold(), typed.is_typing)

    def draw() -> PackedMarkup:
        found = suggestions_for(shop, typed)
        if not found:
            return PackedMarkup.of("")
        template = "storefront/_suggestions.html"
        return PackedMarkup.of(drawn(template, shop=shop, found=found, pieces=lambda text: pieces(text, found.typed)))

    cache: ByteCache[PackedMarkup] = current_app.extensions[SUGGESTIONS_CACHE]
    return cache.get(key, draw).html


def _popular_searches(shop: Shop) -> PopularSearches:
    cache: PopularCache = current_app.extensions[POPULAR]
    return cache.of(ports.clock(), shop.site_id, shop.settings[settings.BLOCKED])


def _path_of_brand(shop: Shop, brand: Brand) -> str | None:
    """Return the path of a brand's landing page in a main category, the largest, where that holds nearly all of its
    products; else None."""
    pages = (landing_pages_of(shop, root) for root in shop.tree.children(None))
    found = (page for made in pages if (page := made.by_value.get(("manufacturer", brand.name))))
    largest = max(found, key=lambda page: page.products, default=None)
    return largest.path if largest and largest.products >= NEARLY_ALL * brand.products else None


def _count_suggestions(shop: Shop) -> None:
    """Note that suggestions were shown. Nothing here can fail or delay them."""
    if not shop.settings[settings.TRACKING] or request.method == "HEAD" or not is_a_shopper():
        return
    try:
        ports.suggestions_shown().note([SuggestionsShown(shop.site_id, day_at(ports.clock().now(), shop.time_zone))])
    except Exception:  # Whatever goes wrong here, the suggestions are what matters.
        current_app.logger.exception("suggestions_not_noted")


@bp.app_template_global("popular_products")
def popular() -> Markup:
    """Return products that sell well; nothing while search or the database does not answer."""
    shop, now = current_shop(), ports.clock().now()
    cache: ByteCache[PackedMarkup] = current_app.extensions[RELATED_CACHE]
    hour = int(now.timestamp()) // SECONDS_POPULAR
    key = "popular", current_theme().name, shop.site_id, shop.version, shop.index_version, hour

    def draw() -> PackedMarkup:
        found = popular_products(ports.search_engine(), shop, now)
        return PackedMarkup.of(drawn("storefront/_popular.html", shop=shop, found=found))

    try:
        return cache.get(key, draw).html
    except (SearchUnavailable, SQLAlchemyError):
        return Markup()
