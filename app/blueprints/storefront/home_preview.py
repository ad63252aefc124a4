"""The home page as it would look, for pages of the admin that show it in a frame."""

from __future__ import annotations

from flask import Response, make_response

from app import ports
from app.blueprints.storefront.blueprint import show_shop
from app.domain.merchandising.shop import Shop
from app.domain.search.listings.home import home_page
from app.domain.seo.heads import home_head
from app.web.themes.drawing import drawn


def drawn_home(shop: Shop) -> Response:
    """Return the home page of a shop as it is given, without scripts."""
    show_shop(shop)
    page = home_page(ports.search_engine(), shop)
    return make_response(drawn("storefront/home.html", head=home_head(shop), shop=shop, page=page, is_preview=True))
