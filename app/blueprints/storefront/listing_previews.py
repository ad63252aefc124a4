"""Lists of products as shoppers see them, for pages of the admin that show them in a frame: first pages, without
scripts, not counted as searches."""

from __future__ import annotations

from datetime import datetime

from markupsafe import Markup

from app import ports
from app.blueprints.storefront.blueprint import landing_pages_of, query_reader, show_shop
from app.blueprints.storefront.presentation import shown_listing
from app.domain.merchandising.shop import Shop, ShownCollection
from app.domain.merchandising.tree import ShopNode
from app.domain.search.listings.browsing import category_listing, collection_listing, read_request, search_listing
from app.domain.search.listings.links import ListingLinks
from app.domain.search.serving.plan import Served
from app.domain.search.serving.rules import SEARCH_PATH
from app.domain.seo.heads import category_head, category_request, collection_head, search_head
from app.web.themes.drawing import drawn


def drawn_category(shop: Shop, node: ShopNode) -> str:
    """Return the page of a category as HTML. Raises SearchUnavailable."""
    show_shop(shop)
    request = read_request(shop, f"/c/{node.path}", ())
    listing = category_listing(ports.search_engine(), shop, node, request, ListingLinks(request.path))
    shown = shown_listing(listing)
    html = drawn("storefront/_listing.html", shop=shop, listing=listing, nothing="storefront/_nothing_here.html")
    return drawn(
        "storefront/category.html",
        head=category_head(shop, node, category_request(node, request), shown),
        shop=shop,
        node=node,
        landing=None,
        pages=landing_pages_of(shop, node),
        shown=shown,
        listing=Markup(html),
        is_preview=True,
    )


def drawn_collection(shop: Shop, collection: ShownCollection, path: str) -> str:
    """Return the page of a collection as HTML. Raises SearchUnavailable."""
    show_shop(shop)
    request = read_request(shop, path, ())
    listing = collection_listing(ports.search_engine(), shop, collection, request)
    shown = shown_listing(listing)
    head = collection_head(shop, collection, path, request, False, shown)
    context = {"shop": shop, "collection": collection, "listing": listing, "shown": shown, "is_preview": True}
    return drawn("storefront/collection.html", head=head, **context)


def drawn_search(shop: Shop, words: str, served: Served, now: datetime) -> str:
    """Return the page of results that a serving configuration gives for a search, as HTML; a redirect is not followed.
    Raises SearchUnavailable."""
    show_shop(shop)
    request = read_request(shop, SEARCH_PATH, [("q", words)])
    engine, reader = ports.search_engine(), query_reader(shop)
    found = search_listing(engine, shop, request, served, now, reader=reader, patient=True)
    head = search_head(shop, found.words, found.pages_heading)
    context = {"shop": shop, "found": found, "listing": found.listing, "is_preview": True}
    return drawn("storefront/search.html", head=head, **context)
