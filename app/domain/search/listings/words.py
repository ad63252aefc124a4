"""Products found by words for programs: the search that shoppers use, without redirects and filters."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from app.domain.catalogue.models import Product
from app.domain.catalogue.queries import Lookup, products_for_sale, products_for_sale_by_id
from app.domain.search.engine import SearchEngine, SearchRequest, SearchUnavailable
from app.domain.search.serving.plan import plan
from app.domain.search.serving.query import search_products
from app.domain.search.serving.served import Served
from app.domain.shared.paging import Paged


def products_by_words(
    engine: SearchEngine, site_id: int, words: str, served: Served, now: datetime, page_number: int, page_size: int
) -> Paged[Product]:
    """Return a page of the products that a search finds, the best match first. The meaning of the words is waited for,
    so that all pages are of one order. Sold-out products are found even where shoppers do not see them, since tills
    sell them too. While the engine does not answer, the products that contain each of the words, by name."""
    request = SearchRequest(words=words, page=page_number, per_page=page_size, patient=True)
    planned = plan(words, replace(served, ranking=served.ranking.without_hiding()), now, redirects=False)
    try:
        result = search_products(engine, site_id, request, planned, served.stop_words).result
    except SearchUnavailable:
        return products_for_sale(site_id, Lookup(words=words), page_number, page_size)
    ids = [int(str(hit.card["id"])) for hit in result.hits]
    return Paged(products_for_sale_by_id(site_id, ids), page_number, page_size, result.total)
