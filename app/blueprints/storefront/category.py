"""A category: its products, filters and the categories below."""

from __future__ import annotations

from collections.abc import Callable

from flask import Response, make_response, request
from markupsafe import Markup

from app import ports
from app.blueprints.storefront.blueprint import bp, current_shop, listing_cache
from app.blueprints.storefront.presentation import drawn, wants_listing
from app.domain.merchandising.shop import Shop
from app.domain.merchandising.tree import ShopNode
from app.domain.search.engine import SearchUnavailable
from app.domain.search.listings.browsing import Listing, category_at, category_listing, is_past_window, read_request
from app.domain.search.listings.listing import ListingRequest
from app.domain.search.listings.plain import plain_category_listing
from app.permissions import public

SECONDS_PLAIN = 10  # A plain listing is cached for so long, since no version says when it is old.


@bp.get("/c/<path:path>")
@public
def category(path: str) -> Response:
    shop = current_shop()
    node = category_at(shop, path)
    asked = read_request(shop, f"/c/{node.path}", request.args.items(multi=True))
    template = "storefront/_category_swap.html" if wants_listing() else "storefront/category.html"
    listing = _listing(shop, node, asked)
    page = drawn(
        template, shop=shop, node=node, asked=asked, listing=listing, is_past_window=is_past_window(shop, asked)
    )
    response = make_response(page)
    response.vary.add("HX-Target")
    return response


def _listing(shop: Shop, node: ShopNode, asked: ListingRequest) -> Markup:
    """While search does not answer, what is cached is shown, else a plain listing. Raises SearchUnavailable for pages
    that only search can make."""
    engine = ports.search_engine()
    try:
        return _cached(shop, asked, shop.index_version, lambda: category_listing(engine, shop, node, asked))
    except SearchUnavailable:
        moment = "plain", int(ports.clock().now().timestamp()) // SECONDS_PLAIN
        return _cached(shop, asked, moment, lambda: plain_category_listing(shop, node, asked))


def _cached(shop: Shop, asked: ListingRequest, version: object, make: Callable[[], Listing]) -> Markup:
    """Unknown parameters make no key: crawlers invent them without end."""

    def draw() -> str:
        return drawn("storefront/_listing.html", shop=shop, listing=make(), nothing="storefront/_nothing_here.html")

    return Markup(draw()) if asked.unknown else listing_cache().get((shop.site_id, shop.version, version, asked), draw)
