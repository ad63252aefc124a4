"""The products on the home page of a shop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
    """A row of products with a heading. `total` counts all products from which the row was chosen."""

    name: str
    hits: tuple[Hit, ...]
    total: int


@dataclass(frozen=True, slots=True)
class HomePage:
    """`products` counts all that are for sale, None while search does not answer."""

    shelves: tuple[Shelf, ...] = ()
    products: int | None = None


def home_page(engine: SearchEngine, shop: Shop) -> HomePage:
    """Return the rows of products of the home page, no product twice and no row empty; none while search does not
    answer."""
    try:
        shelves = [_shelf(engine, shop, name, sort, flag) for name, sort, flag in ROWS]
    except SearchUnavailable:
        return HomePage()
    return HomePage(tuple(shelf for shelf in _each_once(shelves) if shelf.hits), max(shelf.total for shelf in shelves))


def _each_once(shelves: Sequence[Shelf]) -> list[Shelf]:
    """Return the rows, at most ON_A_SHELF products in each. A product of several rows stays in the one with the lowest
    total."""
    seen: set[str] = set()
    filled: dict[str, Shelf] = {}
    for shelf in sorted(shelves, key=lambda shelf: shelf.total):
        hits = [hit for hit in shelf.hits if hit.id not in seen][:ON_A_SHELF]
        seen.update(hit.id for hit in hits)
        filled[shelf.name] = replace(shelf, hits=tuple(hits))
    return [filled[shelf.name] for shelf in shelves]


def _shelf(engine: SearchEngine, shop: Shop, name: str, sort: Sort, flag: str | None) -> Shelf:
    scope = (ValueFilter(flag, ("true",)),) if flag else ()
    request = SearchRequest(scope=scope, sort=sort, per_page=ON_A_SHELF * len(ROWS))
    result = engine.search(shop.site_id, IndexName.PRODUCTS, request)
    return Shelf(name, result.hits, result.total)
