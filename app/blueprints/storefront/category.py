"""A category: its products, filters and the categories below."""

from __future__ import annotations

from flask import Response, make_response, request
from markupsafe import Markup

from app import ports
from app.blueprints.storefront.blueprint import bp, current_shop, kept_listings
from app.blueprints.storefront.presentation import drawn, wants_listing
from app.domain.merchandising.shop import Shop
from app.domain.merchandising.tree import ShopNode
from app.domain.search.listings.browsing import category_at, category_listing, listing_version, read_request
from app.domain.search.listings.listing import ListingRequest
from app.permissions import public


@bp.get("/c/<path:path>")
@public
def category(path: str) -> Response:
    shop = current_shop()
    node = category_at(shop, path)
    asked = read_request(shop, f"/c/{node.path}", request.args.items(multi=True))
    template = "storefront/_category_swap.html" if wants_listing() else "storefront/category.html"
    listing = _listing(shop, node, asked)
    response = make_response(drawn(template, shop=shop, node=node, asked=asked, listing=listing))
    response.vary.add("HX-Target")
    return response


def _listing(shop: Shop, node: ShopNode, asked: ListingRequest) -> Markup:
    """Unknown parameters make no key: crawlers invent them without end."""
    engine = ports.search_engine()

    def draw() -> str:
        listing = category_listing(engine, shop, node, asked)
        return drawn("storefront/_listing.html", shop=shop, listing=listing, nothing="storefront/_nothing_here.html")

    version = listing_version(engine, shop)
    if version is None or asked.unknown:
        return Markup(draw())
    return kept_listings().part((shop.site_id, shop.version, version, asked), draw)
