"""The way in."""

from __future__ import annotations

from app import ports
from app.blueprints.storefront.blueprint import bp, current_shop
from app.blueprints.storefront.presentation import drawn
from app.domain.search.listings.home import home_page
from app.permissions import public


@bp.get("/")
@public
def home() -> str:
    shop = current_shop()
    return drawn("storefront/home.html", shop=shop, page=home_page(ports.search_engine(), shop))
