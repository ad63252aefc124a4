"""A category: its products, filters and the categories below."""

from __future__ import annotations

from flask import Response, make_response, request

from app import ports
from app.blueprints.storefront.blueprint import bp, current_shop
from app.blueprints.storefront.presentation import drawn, wants_listing
from app.domain.search.browsing import category_at, category_listing, read_request
from app.permissions import public


@bp.get("/c/<path:path>")
@public
def category(path: str) -> Response:
    shop = current_shop()
    node = category_at(shop, path)
    asked = read_request(shop, f"/c/{node.path}", request.args.items(multi=True))
    listing = category_listing(ports.search_engine(), shop, node, asked)
    template = "storefront/_category_listing.html" if wants_listing() else "storefront/category.html"
    response = make_response(drawn(template, shop=shop, node=node, listing=listing))
    response.vary.add("HX-Target")
    return response
