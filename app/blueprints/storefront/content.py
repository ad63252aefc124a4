"""Collections and pages of text."""

from __future__ import annotations

from flask import Response, request

from app import ports
from app.blueprints.storefront.blueprint import bp, current_shop
from app.blueprints.storefront.presentation import page_answer, shown_listing
from app.domain.merchandising.shop import collection_at, page_at
from app.domain.search.listings.browsing import collection_listing, read_request
from app.domain.seo.heads import collection_head, content_head
from app.permissions import public


@bp.get("/collections/<seo_name>")
@public
def collection(seo_name: str) -> Response:
    shop = current_shop()
    shown = collection_at(shop.site_id, seo_name)
    path = f"/collections/{seo_name}"
    listing_request = read_request(shop, path, request.args.items(multi=True))
    listing = collection_listing(ports.search_engine(), shop, shown, listing_request)
    head = collection_head(shop, shown, path, listing_request, listing.is_past_window, shown_listing(listing))
    return page_answer("storefront/collection.html", head, shop=shop, collection=shown, listing=listing)


@bp.get("/pages/<seo_name>")
@public
def page(seo_name: str) -> Response:
    shop = current_shop()
    shown = page_at(shop.site_id, seo_name)
    return page_answer("storefront/page.html", content_head(shop, shown, seo_name), shop=shop, page=shown)
