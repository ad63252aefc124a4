"""Popular products below a search without results. They are drawn once for all searches, so that a program that tries
words causes no work."""

from __future__ import annotations

from flask import current_app
from markupsafe import Markup
from sqlalchemy.exc import SQLAlchemyError

from app import ports
from app.blueprints.storefront.blueprint import RELATED_CACHE, bp, current_shop
from app.blueprints.storefront.fragment_cache import FragmentCache, PackedMarkup
from app.domain.search.engine import SearchUnavailable
from app.domain.search.listings.popular import popular_products
from app.themes.drawing import current_theme, drawn

SECONDS_POPULAR = 3_600  # Best sellers are read anew each hour, since new orders change no version.


@bp.app_template_global("popular_products")
def popular() -> Markup:
    """Return products that sell well; nothing while search or the database does not answer."""
    shop, now = current_shop(), ports.clock().now()
    cache: FragmentCache[PackedMarkup] = current_app.extensions[RELATED_CACHE]
    hour = int(now.timestamp()) // SECONDS_POPULAR
    key = "popular", current_theme().name, shop.site_id, shop.version, shop.index_version, hour

    def draw() -> PackedMarkup:
        found = popular_products(ports.search_engine(), shop, now)
        return PackedMarkup.of(drawn("storefront/_popular.html", shop=shop, found=found))

    try:
        return cache.get(key, draw).html
    except (SearchUnavailable, SQLAlchemyError):
        return Markup()
