"""A category's products, and the landing pages of their values.

The page is cached by the configuration of its shop and the version of its index.
"""

from __future__ import annotations

from collections.abc import Callable

from flask import Response, redirect, request
from werkzeug.wrappers import Response as AnyResponse

from app import ports
from app.blueprints.storefront.blueprint import bp, current_shop, landing_pages_of, page_cache
from app.blueprints.storefront.fragment_cache import DrawnPage
from app.blueprints.storefront.presentation import (
    count_answer,
    drawn_answer,
    drawn_page,
    shown_listing,
    wants_count,
    wants_listing,
)
from app.blueprints.storefront.theme_preview import previewed_label
from app.domain.merchandising.shop import Shop
from app.domain.merchandising.tree import ShopNode
from app.domain.search.engine import SearchUnavailable
from app.domain.search.listings.browsing import Listing, category_listing, extra_tracking, is_past_window, read_request
from app.domain.search.listings.links import ListingLinks
from app.domain.search.listings.listing import ListingRequest
from app.domain.search.listings.listing_parameters import tracking_parameters
from app.domain.search.listings.plain import plain_category_listing
from app.domain.seo.heads import PageHead, category_head, category_request, landing_head, landing_request
from app.domain.seo.landing.addresses import landing_at
from app.domain.seo.landing.links import LandingLinks, request_of
from app.domain.seo.landing.pages import LandingPage, LandingPages
from app.domain.shared.records import existing
from app.htmx import redirect_page, wants_fragment
from app.permissions import public
from app.themes.drawing import current_theme

SECONDS_PLAIN = 10  # How long a plain listing is cached, since no version says when it is old.
NO_CATEGORY = "This category does not exist or has been removed."


@bp.get("/c/<path:path>")
@public
def category(path: str) -> AnyResponse:
    """Show a category, or the landing page at the path."""
    shop = current_shop()
    node = shop.tree.at(path)
    if node is None:
        return _landing_page(shop, path)
    pages = landing_pages_of(shop, node)
    listing_request = _read(shop, node)
    landing = None if wants_count() else LandingLinks(pages).redirect(listing_request, _tracking(shop))
    if landing is None:
        return _page(shop, node, listing_request, pages, None)
    return redirect_page(landing) if wants_fragment() else _sent_on(landing)


def _sent_on(path: str) -> AnyResponse:
    """Return the redirect to a landing page, which is for good (spec), but may not be cached: browsers would keep it
    for ever, and the page goes when fewer products carry its value."""
    answer = redirect(path, 301)
    answer.headers["Cache-Control"] = "no-store"
    return answer


def _landing_page(shop: Shop, path: str) -> Response:
    found = existing(landing_at(shop.tree, path, lambda node: landing_pages_of(shop, node)), NO_CATEGORY)
    return _page(shop, found.node, _read(shop, found.node), found.pages, found.page)


def _page(shop: Shop, node: ShopNode, given: ListingRequest, pages: LandingPages, page: LandingPage | None) -> Response:
    """Return a category's page, or a landing page of it. While search does not answer, what is cached is shown, else a
    plain listing. Raises SearchUnavailable for pages that only search can make."""
    listing_request = request_of(page, given) if page else given
    path = page.path if page else given.path
    links = ListingLinks(path, LandingLinks(pages).address) if pages.pages else ListingLinks(path)

    def answer(make: Callable[[], Listing], *version: object) -> Response:
        if wants_count():
            return count_answer(make().total)
        template = "storefront/_category_swap.html" if wants_listing() else "storefront/category.html"

        def draw() -> DrawnPage:
            listing = make()
            head = _head(shop, node, given, page, listing)
            return drawn_page(template, head, shop=shop, node=node, landing=page, pages=pages, listing=listing)

        theme = current_theme().name, previewed_label()
        key = (template, *theme, shop.site_id, shop.version, *version, path, pages.fingerprint, given, given.given)
        # Crawlers invent parameters without end, so a page with unknown ones is not cached.
        return drawn_answer(draw() if given.unknown else page_cache().get(key, draw))

    try:
        engine = ports.search_engine()
        return answer(lambda: category_listing(engine, shop, node, listing_request, links), shop.index_version)
    except SearchUnavailable:
        second = int(ports.clock().now().timestamp()) // SECONDS_PLAIN
        return answer(lambda: plain_category_listing(shop, node, listing_request, links), "plain", second)


def _head(shop: Shop, node: ShopNode, given: ListingRequest, page: LandingPage | None, listing: Listing) -> PageHead:
    is_past, shown = is_past_window(shop, listing.request), shown_listing(listing)
    if page:
        return landing_head(shop, node, page, landing_request(page, given, is_past), shown)
    return category_head(shop, node, category_request(node, given, is_past), shown)


def _read(shop: Shop, node: ShopNode) -> ListingRequest:
    return read_request(shop, f"/c/{node.path}", request.args.items(multi=True))


def _tracking(shop: Shop) -> list[tuple[str, str]]:
    return tracking_parameters(request.args.items(multi=True), extra_tracking(shop))
