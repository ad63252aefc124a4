"""The home page, products, collections, pages of text, and suggestions on the page of an address that does not exist.

Suggestions for an address are bounded against programs that try addresses: an address is searched once for each state
of the shop, and only so many are searched a minute.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from flask import Response, current_app, request
from markupsafe import Markup
from sqlalchemy.exc import SQLAlchemyError

from app import ports
from app.blueprints.callers import refuse_beyond
from app.blueprints.storefront.attribution import note_opened
from app.blueprints.storefront.blueprint import (
    MISSING_CACHE,
    RELATED_CACHE,
    PackedMarkup,
    bp,
    current_shop,
    served_configuration,
    shop_or_none,
)
from app.blueprints.storefront.presentation import drawn_once, page_answer, shown_listing
from app.domain.merchandising.product_pages import ProductPage, product_page
from app.domain.merchandising.shop import ContentLink, Shop, collection_at, page_at
from app.domain.search.engine import SearchUnavailable
from app.domain.search.listings.browsing import collection_listing, read_request
from app.domain.search.listings.home import home_page
from app.domain.search.listings.recommendations import (
    related_products,
    suggestions_for_address,
    words_of_address,
)
from app.domain.seo.heads import collection_head, content_head, home_head, product_head
from app.domain.shared.byte_cache import ByteCache
from app.domain.shared.problems import TooManyRequests
from app.domain.shared.rate_limit import Rate
from app.web import callers
from app.web.permissions import public
from app.web.themes.drawing import current_theme, drawn

SECONDS_RELATED = 3_600  # What was bought together is read anew each hour, since new orders change no version.
BUYING_PAGES = tuple(f"/pages/{name}" for name in ("delivery", "shipping", "collection", "returns"))
CONTACT = "contact"  # The address of the page that shows the shop's contact data below its text.
ACTION = "missing-pages"
OF_CALLER, OF_SITE = Rate(20), Rate(120)  # Addresses a minute that are searched; others lead to the categories alone.


@bp.get("/")
@public
def home() -> Response:
    shop = current_shop()
    page = home_page(ports.search_engine(), shop)
    return page_answer("storefront/home.html", home_head(shop), shop=shop, page=page)


@bp.get("/p/<seo_name>")
@public
def product(seo_name: str) -> Response:
    shop = current_shop()
    page = product_page(shop, seo_name, request.args.get("variant", ""))
    note_opened(page.product.id)
    return page_answer("storefront/product.html", product_head(shop, page), shop=shop, page=page, product=page.product)


@dataclass(frozen=True, slots=True)
class DrawnRelated(PackedMarkup):
    """The products beside a product as HTML, and whether similar ones are among them."""

    has_similar: bool


@bp.app_template_global("related_products")
def related(page: ProductPage) -> DrawnRelated:
    """Return the products beside a product; nothing while search does not answer."""
    shop = current_shop()
    cache: ByteCache[DrawnRelated] = current_app.extensions[RELATED_CACHE]
    hour = int(ports.clock().now().timestamp()) // SECONDS_RELATED
    key = current_theme().name, shop.site_id, shop.version, shop.index_version, hour, page.product.id

    def draw() -> DrawnRelated:
        found = related_products(ports.search_engine(), shop, page)
        html = drawn("storefront/_related.html", shop=shop, found=found)
        return DrawnRelated(PackedMarkup.of(html).packed, has_similar=bool(found.similar))

    try:
        return cache.get(key, draw)
    except SearchUnavailable:
        return DrawnRelated(PackedMarkup.of("").packed, has_similar=False)


@bp.app_template_filter("about_buying")
def about_buying(links: Iterable[ContentLink]) -> list[ContentLink]:
    """Return the links to the shop's pages about delivery and returns."""
    return [link for link in links if link.path in BUYING_PAGES]


@bp.get("/collections/<seo_name>")
@public
def collection(seo_name: str) -> Response:
    shop = current_shop()
    shown = collection_at(shop.site_id, seo_name)
    path = f"/collections/{seo_name}"
    listing_request = read_request(shop, path, request.args.items(multi=True))
    listing = collection_listing(ports.search_engine(), shop, shown, listing_request)
    facts = shown_listing(listing)
    head = collection_head(shop, shown, path, listing_request, listing.is_past_window, facts)
    context = {"collection": shown, "listing": listing, "shown": facts}
    return page_answer("storefront/collection.html", head, shop=shop, **context)


@bp.get("/pages/<seo_name>")
@public
def page(seo_name: str) -> Response:
    shop = current_shop()
    shown = page_at(shop.site_id, seo_name)
    context = {"page": shown, "shows_contact": seo_name == CONTACT and shop.appearance.has_contact}
    return page_answer("storefront/page.html", content_head(shop, shown, seo_name), shop=shop, **context)


@bp.app_template_global("missing_page_suggestions")
def missing_page_suggestions() -> Markup:
    """Return links to what comes closest to the address of the request; nothing for addresses that cannot be of a
    page."""
    shop = shop_or_none()
    if shop is None or request.method not in ("GET", "HEAD") or not words_of_address(request.path):
        return Markup()
    cache: ByteCache[PackedMarkup] = current_app.extensions[MISSING_CACHE]
    key = current_theme().name, shop.site_id, shop.version, shop.index_version, request.path
    try:
        return cache.get(key, lambda: _draw_suggestions(shop, request.path)).html
    except (TooManyRequests, SearchUnavailable, SQLAlchemyError):
        return drawn_once(shop, "storefront/_browse.html")


def _draw_suggestions(shop: Shop, path: str) -> PackedMarkup:
    """Return the suggestions for an address. Raises TooManyRequests, SearchUnavailable."""
    refuse_beyond(ACTION, OF_CALLER)
    callers.refuse_beyond(f"{ACTION}:site:{shop.site_id}", OF_SITE)
    found = suggestions_for_address(ports.search_engine(), shop, path, served_configuration(shop), ports.clock().now())
    return PackedMarkup.of(drawn("storefront/_missing_page.html", shop=shop, found=found))
