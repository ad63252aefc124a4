"""A category's products, and the landing pages of their values.

The listing is cached by the configuration of its shop and the version of its index.
"""

from __future__ import annotations

from collections.abc import Callable

from flask import Response, redirect, request
from werkzeug.wrappers import Response as AnyResponse

from app import ports
from app.blueprints.storefront.blueprint import DrawnListing, bp, current_shop, landing_pages_of, listing_cache
from app.blueprints.storefront.fragment_cache import PackedMarkup
from app.blueprints.storefront.presentation import count_answer, drawn, listing_answer, shown_listing, wants_count
from app.domain.merchandising.shop import Shop
from app.domain.merchandising.tree import ShopNode
from app.domain.search.engine import SearchUnavailable
from app.domain.search.listings.browsing import Listing, category_listing, extra_tracking, is_past_window, read_request
from app.domain.search.listings.links import ListingLinks
from app.domain.search.listings.listing import ListingRequest
from app.domain.search.listings.listing_parameters import tracking_parameters
from app.domain.search.listings.plain import plain_category_listing
from app.domain.seo.heads import category_head, category_request, landing_head, landing_request
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
    listing_request = request_of(page, given) if page else given
    links = ListingLinks(page.path if page else listing_request.path, LandingLinks(pages).address)
    listing = _listing(shop, node, listing_request, links, pages)
    if wants_count():
        return count_answer(listing.shown.total)
    is_past = is_past_window(shop, listing_request)
    if page:
        head = landing_head(shop, node, page, landing_request(page, given, is_past), listing.shown)
    else:
        head = category_head(shop, node, category_request(node, given, is_past), listing.shown)
    context = {"shop": shop, "node": node, "landing": page, "pages": pages, "listing": listing.html}
    return listing_answer("storefront/category.html", "storefront/_category_swap.html", head, **context)


def _read(shop: Shop, node: ShopNode) -> ListingRequest:
    return read_request(shop, f"/c/{node.path}", request.args.items(multi=True))


def _tracking(shop: Shop) -> list[tuple[str, str]]:
    return tracking_parameters(request.args.items(multi=True), extra_tracking(shop))


def _listing(
    shop: Shop, node: ShopNode, listing_request: ListingRequest, links: ListingLinks, pages: LandingPages
) -> DrawnListing:
    """Return the listing of a category. While search does not answer, what is cached is shown, else a plain listing.
    Raises SearchUnavailable for pages that only search can make."""
    engine, of_page = ports.search_engine(), (links.path, pages.fingerprint)
    try:
        version: tuple[object, ...] = (shop.index_version, *of_page)
        return _cached(
            shop, listing_request, version, lambda: category_listing(engine, shop, node, listing_request, links)
        )
    except SearchUnavailable:
        version = (int(ports.clock().now().timestamp()) // SECONDS_PLAIN, "plain", *of_page)
        return _cached(
            shop, listing_request, version, lambda: plain_category_listing(shop, node, listing_request, links)
        )


def _cached(
    shop: Shop, listing_request: ListingRequest, version: tuple[object, ...], make: Callable[[], Listing]
) -> DrawnListing:
    """Return the listing from the cache. One with unknown parameters is not cached, since crawlers invent them without
    end."""

    def draw() -> DrawnListing:
        listing = make()
        html = drawn("storefront/_listing.html", shop=shop, listing=listing, nothing="storefront/_nothing_here.html")
        return DrawnListing(PackedMarkup.of(html), shown_listing(listing))

    key = current_theme().name, shop.site_id, shop.version, version, listing_request
    return draw() if listing_request.unknown else listing_cache().get(key, draw)
