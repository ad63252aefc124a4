"""Search: the page of results for a shopper's words."""

from __future__ import annotations

from flask import Response, make_response, redirect, request

from app import ports
from app.blueprints.storefront.attribution import note_search
from app.blueprints.storefront.blueprint import bp, current_shop, served_configuration
from app.blueprints.storefront.presentation import count_answer, listing_answer, page_answer, wants_count
from app.blueprints.storefront.rate_limit import may_use_model
from app.domain.search.listings.browsing import read_request, search_listing
from app.domain.search.serving.plan import plan
from app.domain.search.serving.redirects import SEARCH_PATH
from app.domain.seo.heads import search_head
from app.htmx import redirect_page, wants_fragment
from app.permissions import public


@bp.get("/search")
@public
def search() -> Response:
    shop = current_shop()
    listing_request = read_request(shop, SEARCH_PATH, request.args.items(multi=True))
    if not listing_request.words and not listing_request.is_filtered:
        return page_answer("storefront/search_start.html", search_head(shop, ""), shop=shop)
    served, now = served_configuration(shop), ports.clock().now()
    elsewhere = plan(listing_request.words, served, now).redirect
    if elsewhere is not None and not wants_count():
        note_search(listing_request, (), None, ruled=True)
        return _sent_on(elsewhere)
    known_meaning = not may_use_model()
    found = search_listing(ports.search_engine(), shop, listing_request, served, now, known_meaning=known_meaning)
    if wants_count():
        return count_answer(found.listing.total)
    if listing_request.words:
        result = found.listing.result
        products = None if found.is_answered_by_content else result.total
        shown = [hit.id for hit in (*result.hits, *result.similar)]
        note_search(listing_request, shown, products, ruled=found.plan.rule is not None)
    head = search_head(shop, found.words, found.pages_heading)
    context = {"shop": shop, "found": found, "listing": found.listing}
    return listing_answer("storefront/search.html", "storefront/_search_swap.html", head, **context)


def _sent_on(path: str) -> Response:
    """Return a redirect that may not be cached: the rule that sends this search on can end any moment."""
    response = redirect_page(path) if wants_fragment() else make_response(redirect(path))
    response.headers["Cache-Control"] = "no-store"
    return response
