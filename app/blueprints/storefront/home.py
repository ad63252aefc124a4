"""The home page."""

from __future__ import annotations

from flask import Response

from app import ports
from app.blueprints.storefront.blueprint import bp, current_shop
from app.blueprints.storefront.presentation import page_answer
from app.domain.search.listings.home import home_page
from app.domain.seo.heads import home_head
from app.permissions import public


@bp.get("/")
@public
def home() -> Response:
    shop = current_shop()
    page = home_page(ports.search_engine(), shop)
    return page_answer("storefront/home.html", home_head(shop), shop=shop, page=page)
