"""Search: what a shopper's words find."""

from __future__ import annotations

from flask import Response, make_response, request

from app import ports
from app.blueprints.storefront.blueprint import bp, current_shop
from app.blueprints.storefront.presentation import drawn, wants_listing
from app.domain.search.browsing import read_request, search_listing
from app.domain.search.rail import SEARCH_PATH
from app.permissions import public


@bp.get("/search")
@public
def search() -> Response:
    shop = current_shop()
    asked = read_request(shop, SEARCH_PATH, request.args.items(multi=True))
    if not asked.words and not asked.is_filtered:
        return make_response(drawn("storefront/search_start.html", shop=shop))
    found = search_listing(ports.search_engine(), shop, asked)
    template = "storefront/_search_swap.html" if wants_listing() else "storefront/search.html"
    response = make_response(drawn(template, shop=shop, found=found, listing=found.listing))
    response.vary.add("HX-Target")
    return response
