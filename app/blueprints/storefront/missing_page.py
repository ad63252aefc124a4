"""Suggestions on the page of an address that does not exist. They are bounded against programs that try addresses: an
address is searched once for each state of the shop, and only so many are searched a minute."""

from __future__ import annotations

from flask import current_app, request
from markupsafe import Markup
from sqlalchemy.exc import SQLAlchemyError

from app import ports, rate_limiting
from app.blueprints.callers import refuse_beyond
from app.blueprints.storefront.blueprint import MISSING_CACHE, bp, served_configuration, shop_or_none
from app.blueprints.storefront.fragment_cache import FragmentCache, PackedMarkup
from app.blueprints.storefront.presentation import drawn_once
from app.domain.merchandising.shop import Shop
from app.domain.search.engine import SearchUnavailable
from app.domain.search.listings.missing import suggestions, words_of_address
from app.domain.shared.problems import TooManyRequests
from app.domain.shared.rate_limit import Rate
from app.themes.drawing import current_theme, drawn

ACTION = "missing-pages"
OF_CALLER, OF_SITE = Rate(20), Rate(120)  # Addresses a minute that are searched; others lead to the categories alone.


@bp.app_template_global("missing_page_suggestions")
def missing_page_suggestions() -> Markup:
    """Return links to what comes closest to the address of the request; nothing for addresses that cannot be of a
    page."""
    shop = shop_or_none()
    if shop is None or request.method not in ("GET", "HEAD") or not words_of_address(request.path):
        return Markup()
    cache: FragmentCache[PackedMarkup] = current_app.extensions[MISSING_CACHE]
    key = current_theme().name, shop.site_id, shop.version, shop.index_version, request.path
    try:
        return cache.get(key, lambda: _draw(shop, request.path)).html
    except (TooManyRequests, SearchUnavailable, SQLAlchemyError):
        return drawn_once(shop, "storefront/_browse.html")


def _draw(shop: Shop, path: str) -> PackedMarkup:
    """Return the suggestions for an address. Raises TooManyRequests, SearchUnavailable."""
    refuse_beyond(ACTION, OF_CALLER)
    rate_limiting.refuse_beyond(f"{ACTION}:site:{shop.site_id}", OF_SITE)
    found = suggestions(ports.search_engine(), shop, path, served_configuration(shop), ports.clock().now())
    return PackedMarkup.of(drawn("storefront/_missing_page.html", shop=shop, found=found))
