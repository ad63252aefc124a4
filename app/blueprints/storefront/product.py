"""The page of a product."""

from __future__ import annotations

from flask import Response, current_app, request
from markupsafe import Markup

from app import ports
from app.blueprints.storefront.attribution import note_opened
from app.blueprints.storefront.blueprint import RELATED_CACHE, bp, current_shop
from app.blueprints.storefront.fragment_cache import FragmentCache, PackedMarkup
from app.blueprints.storefront.presentation import page_answer
from app.domain.merchandising.product_pages import ProductPage, product_page
from app.domain.merchandising.shop import Shop
from app.domain.search.engine import SearchUnavailable
from app.domain.search.listings.related import related_products
from app.domain.seo.heads import product_head
from app.permissions import public
from app.themes.drawing import current_theme, drawn

SECONDS_RELATED = 3_600  # What was bought together is read anew each hour, since new orders change no version.


@bp.get("/p/<seo_name>")
@public
def product(seo_name: str) -> Response:
    shop = current_shop()
    page = product_page(shop, seo_name, request.args.get("variant", ""))
    note_opened(page.product.id)
    return page_answer("storefront/product.html", product_head(shop, page), shop=shop, page=page, product=page.product)


@bp.app_template_global("related_products")
def related(page: ProductPage) -> Markup:
    """Return the products beside a product; nothing while search does not answer."""
    shop, cache = current_shop(), current_app.extensions[RELATED_CACHE]
    hour = int(ports.clock().now().timestamp()) // SECONDS_RELATED
    key = current_theme().name, shop.site_id, shop.version, shop.index_version, hour, page.product.id
    try:
        return _drawn_once(cache, key, shop, page)
    except SearchUnavailable:
        return Markup()


def _drawn_once(cache: FragmentCache[PackedMarkup], key: tuple[object, ...], shop: Shop, page: ProductPage) -> Markup:
    """Return the related products from the cache. Raises SearchUnavailable."""

    def draw() -> PackedMarkup:
        found = related_products(ports.search_engine(), shop, page)
        return PackedMarkup.of(drawn("storefront/_related.html", shop=shop, found=found))

    return cache.get(key, draw).html
