"""Products that a browser looked at lately. The list is kept in the browser alone, which sends it to have its row
drawn; nothing of it is stored."""

from __future__ import annotations

from flask import Response, make_response, request

from app import ports
from app.blueprints.callers import refuse_beyond
from app.blueprints.compression import compressed, quickly
from app.blueprints.storefront.blueprint import bp, current_shop
from app.domain.catalogue.product_rules import LONGEST_SKU
from app.domain.search.listings.recommendations import products_in_order
from app.domain.shared.rate_limit import Rate
from app.web.permissions import public
from app.web.themes.drawing import drawn

ACTION = "recently-viewed"
RATE = Rate(120)  # A minute; a page of a product requests it once.
MOST = 12
KEPT = 60  # Seconds that browsers cache the row.


@bp.get("/recently-viewed")
@public
def recently_viewed() -> Response:
    """Return the row of the products whose SKUs the request names, in their order, at most MOST; empty where none of
    them is sold any more."""
    shop = current_shop()
    refuse_beyond(ACTION, RATE)
    skus = [sku for sku in request.args.getlist("sku") if 0 < len(sku) <= LONGEST_SKU][:MOST]
    hits = products_in_order(ports.search_engine(), shop, skus)
    html = drawn("storefront/_recently_viewed.html", shop=shop, hits=hits)
    response = compressed(make_response(html), quickly)
    response.headers["Cache-Control"] = f"private, max-age={KEPT}"  # The address says what a browser looked at.
    return response
