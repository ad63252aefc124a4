"""Products beside a product: those that customers bought with it, and those like it at about its price."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.merchandising.product_pages import ProductPage
from app.domain.merchandising.shop import Shop
from app.domain.orders.sales import bought_together
from app.domain.search.engine import Hit, IndexName, RangeFilter, SearchEngine, SearchRequest, Sort, ValueFilter
from app.domain.search.index.document import product_document_id

TOGETHER, SIMILAR = 4, 4
IN_STOCK = ValueFilter("inStock", ("true",))


@dataclass(frozen=True, slots=True)
class Related:
    """Products that are in stock. `together` are those bought with it, the commonest first; `similar` those like it,
    the nearest in price first. None is in both."""

    together: tuple[Hit, ...] = ()
    similar: tuple[Hit, ...] = ()


def related_products(engine: SearchEngine, shop: Shop, page: ProductPage) -> Related:
    """Return the products beside a product, in two queries at most and one call of the engine. Raises
    SearchUnavailable."""
    product = page.product
    skus = bought_together(shop.site_id, product.id, TOGETHER)
    by_sku = SearchRequest(scope=(ValueFilter("sku", tuple(skus)), IN_STOCK), per_page=TOGETHER, fresh=True)
    requests = [by_sku, *_like(page)]
    sold, *alike = [result.hits for result in engine.search_many(shop.site_id, IndexName.PRODUCTS, requests)]
    together = tuple(sorted(sold, key=lambda hit: skus.index(str(hit.card["sku"]))))
    shown = {product_document_id(product.id), *(hit.id for hit in together)}
    others = [hit for hits in alike for hit in hits if hit.id not in shown]
    return Related(together, nearest_in_price(others, product.price)[:SIMILAR])


def nearest_in_price(hits: Sequence[Hit], price: int) -> tuple[Hit, ...]:
    """Return the hits, the smallest difference to a price first; of two the cheaper."""
    return tuple(sorted(hits, key=lambda hit: (abs(_price(hit) - price), _price(hit), hit.id)))


def _price(hit: Hit) -> int:
    return int(str(hit.card["price"]))


def _like(page: ProductPage) -> list[SearchRequest]:
    """Return the requests for what is of the product's level, or else of its category: the next ones down in price,
    and the next ones up."""
    kind = _kind(page)
    if kind is None:
        return []
    price, most = (
        float(page.product.price),
        SIMILAR + TOGETHER + 1,
    )  # Itself and those bought with it may be among them.
    down, up = RangeFilter("price", high=price), RangeFilter("price", low=price + 1)
    return [
        SearchRequest(scope=(kind, IN_STOCK), ranges=(down,), sort=Sort.PRICE_DESC, per_page=most, fresh=True),
        SearchRequest(scope=(kind, IN_STOCK), ranges=(up,), sort=Sort.PRICE_ASC, per_page=most, fresh=True),
    ]


def _kind(page: ProductPage) -> ValueFilter | None:
    if page.product.taxonomy_level_id:
        return ValueFilter("level", (page.product.taxonomy_level_id,))
    return ValueFilter("category", (str(page.trail[-1].id),)) if page.trail else None
