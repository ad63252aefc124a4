"""The products on the home page of a shop."""

from __future__ import annotations

from dataclasses import dataclass

from app.domain.merchandising.shop import Shop
from app.domain.search.engine import (
    Hit,
    IndexName,
    SearchEngine,
    SearchRequest,
    SearchUnavailable,
    Sort,
    ValueFilter,
)

ON_A_SHELF = 8
ROWS = (("Featured", Sort.FEATURED, "featured"), ("New in", Sort.NEWEST, None), ("On sale", Sort.FEATURED, "onSale"))


@dataclass(frozen=True, slots=True)
class Shelf:
    """A row of products with a heading, out of `total` like them."""

    name: str
    hits: tuple[Hit, ...]
    total: int


@dataclass(frozen=True, slots=True)
class HomePage:
    """`products` counts all that are for sale, None while search does not answer."""

    shelves: tuple[Shelf, ...] = ()
    products: int | None = None


def home_page(engine: SearchEngine, shop: Shop) -> HomePage:
    """Rows of products, those without any left out."""
    try:
        shelves = [_shelf(engine, shop, name, sort, flag) for name, sort, flag in ROWS]
    except SearchUnavailable:
        return HomePage()
    return HomePage(tuple(shelf for shelf in shelves if shelf.hits), max(shelf.total for shelf in shelves))


def _shelf(engine: SearchEngine, shop: Shop, name: str, sort: Sort, flag: str | None) -> Shelf:
    scope = (ValueFilter(flag, ("true",)),) if flag else ()
    request = SearchRequest(scope=scope, sort=sort, per_page=ON_A_SHELF)
    result = engine.search(shop.site_id, IndexName.PRODUCTS, request)
    return Shelf(name, result.hits, result.total)
