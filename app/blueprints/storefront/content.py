"""Collections and pages of text."""

from __future__ import annotations

from flask import request

from app import ports
from app.blueprints.storefront.blueprint import bp, current_shop
from app.blueprints.storefront.presentation import drawn
from app.domain.merchandising.content import collection_at, page_at
from app.domain.search.listings.browsing import collection_listing, read_request
from app.permissions import public


@bp.get("/collections/<seo_name>")
@public
def collection(seo_name: str) -> str:
    shop = current_shop()
    shown = collection_at(shop.site_id, seo_name)
    asked = read_request(shop, f"/collections/{seo_name}", request.args.items(multi=True))
    listing = collection_listing(ports.search_engine(), shop, shown, asked)
    return drawn("storefront/collection.html", shop=shop, collection=shown, listing=listing)


@bp.get("/pages/<seo_name>")
@public
def page(seo_name: str) -> str:
    shop = current_shop()
    return drawn("storefront/page.html", shop=shop, page=page_at(shop.site_id, seo_name))
