"""A category's products, and the landing pages of their values.

Page and listing are cached by the configuration of their shop and the version of its index: the listing alone is
exchanged in place, and stays when search goes away.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flask import Response, redirect, request
from werkzeug.wrappers import Response as AnyResponse

from app import ports
from app.blueprints.storefront.blueprint import (
    DrawnListing,
    PackedMarkup,
    bp,
    current_shop,
    landing_pages_of,
    listing_cache,
    page_cache,
)
from app.blueprints.storefront.presentation import (
    drawn_answer,
    drawn_page,
    filters_answer,
    listing_answer,
    shown_listing,
    wants_filters,
    wants_listing,
)
from app.blueprints.storefront.request_hooks import previewed_label
from app.domain.merchandising.shop import Shop
from app.domain.merchandising.tree import ShopNode
from app.domain.search.engine import SearchUnavailable
from app.domain.search.listings.browsing import (
    Listing,
    category_listing,
    extra_tracking,
    is_past_window,
    plain_category_listing,
    read_request,
)
from app.domain.search.listings.links import ListingLinks
from app.domain.search.listings.listing import ListingRequest, tracking_parameters
from app.domain.seo.heads import PageHead, ShownListing, category_head, category_request, landing_head, landing_request
from app.domain.seo.landing.pages import LandingLinks, LandingPage, LandingPages, as_category_request, landing_at
from app.domain.shared.records import existing
from app.web.htmx import redirect_page, wants_fragment
from app.web.permissions import public
from app.web.themes.drawing import current_theme, drawn

SECONDS_PLAIN = 10  # How long a plain listing is cached, since no version says when it is old.
NO_CATEGORY = "This category does not exist or has been removed."


@bp.get("/c/<path:path>")
@public
def category(path: str) -> AnyResponse:
    """Show a category, or the landing page at the path."""
    shop = current_shop()
    node = shop.tree.at(path)
    if node is None:
        found = existing(landing_at(shop.tree, path, lambda node: landing_pages_of(shop, node)), NO_CATEGORY)
        return _page(shop, found.node, _read(shop, found.node), found.pages, found.page)
    pages = landing_pages_of(shop, node)
    listing_request = _read(shop, node)
    tracking = tracking_parameters(request.args.items(multi=True), extra_tracking(shop))
    landing = None if wants_filters() else LandingLinks(pages).redirect(listing_request, tracking)
    if landing is None:
        return _page(shop, node, listing_request, pages, None)
    return redirect_page(landing) if wants_fragment() else redirect_for_good(landing)


def landing_address(shop: Shop, path: str) -> str | None:
    """Return the address of the landing page to which a category's address is redirected with the parameters of the
    request; None for any other path and for parameters that have none."""
    node = shop.tree.at(path.removeprefix("/c/")) if path.startswith("/c/") else None
    if node is None or not request.args:
        return None
    tracking = tracking_parameters(request.args.items(multi=True), extra_tracking(shop))
    return LandingLinks(landing_pages_of(shop, node)).redirect(_read(shop, node), tracking)


def redirect_for_good(path: str) -> AnyResponse:
    """Return a redirect for good (spec) that may not be cached: browsers would keep it for ever, but a landing page
    goes when fewer products carry its value, and an old address may be that of a page again."""
    answer = redirect(path, 301)
    answer.headers["Cache-Control"] = "no-store"
    return answer


def _page(shop: Shop, node: ShopNode, given: ListingRequest, pages: LandingPages, page: LandingPage | None) -> Response:
    """Return a category's page, or a landing page of it. While search does not answer, what is cached is shown, else a
    plain listing. Raises SearchUnavailable for pages that only search can make."""
    listing_request = as_category_request(page, given) if page else given
    path = page.path if page else given.path
    links = ListingLinks(path, LandingLinks(pages).address) if pages.pages else ListingLinks(path)

    def answer(make: Callable[[], Listing], *version: object) -> Response:
        state = (current_theme().name, shop.site_id, shop.version, *version, path, pages.fingerprint)

        def parts() -> dict[str, Any]:
            listing = _listing(shop, listing_request, state, make)
            head = _head(shop, node, given, page, is_past_window(shop, listing_request), listing.shown)
            context = {"shop": shop, "node": node, "landing": page, "pages": pages, "shown": listing.shown}
            return {"head": head, "listing": listing.html, **context}

        if wants_filters():
            return filters_answer(_listing(shop, listing_request, state, make, "storefront/_rail.html").html)
        if wants_listing() or given.unknown:
            return listing_answer("storefront/category.html", "storefront/_category_swap.html", **parts())
        # A parameter that is ignored changes what search engines may do with the page, and nothing else.
        key = (*state, previewed_label(), given, given.given)
        return drawn_answer(page_cache().get(key, lambda: drawn_page("storefront/category.html", **parts())))

    try:
        engine = ports.search_engine()
        return answer(lambda: category_listing(engine, shop, node, listing_request, links), shop.index_version)
    except SearchUnavailable:
        moment = int(ports.clock().now().timestamp()) // SECONDS_PLAIN
        return answer(lambda: plain_category_listing(shop, node, listing_request, links), "plain", moment)


def _listing(
    shop: Shop,
    listing_request: ListingRequest,
    state: tuple[object, ...],
    make: Callable[[], Listing],
    template: str = "storefront/_listing.html",
) -> DrawnListing:
    """Return the listing, or the part of it that a template draws, from the cache. One with unknown parameters is not
    cached, since crawlers invent them without end."""

    def draw() -> DrawnListing:
        listing = make()
        html = drawn(template, shop=shop, listing=listing, nothing="storefront/_nothing_here.html")
        return DrawnListing(PackedMarkup.of(html), shown_listing(listing))

    return draw() if listing_request.unknown else listing_cache().get((*state, listing_request, template), draw)


def _head(
    shop: Shop, node: ShopNode, given: ListingRequest, page: LandingPage | None, is_past: bool, shown: ShownListing
) -> PageHead:
    if page:
        return landing_head(shop, node, page, landing_request(page, given, is_past), shown)
    return category_head(shop, node, category_request(node, given, is_past), shown)


def _read(shop: Shop, node: ShopNode) -> ListingRequest:
    return read_request(shop, f"/c/{node.path}", request.args.items(multi=True))
