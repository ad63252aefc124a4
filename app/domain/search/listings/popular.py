"""Products for a shopper whose search found nothing: those that sell well, else what the shop shows first."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from app.domain.merchandising.shop import Shop
from app.domain.orders.sales import selling_products
from app.domain.search.engine import Hit, IndexName, SearchEngine, SearchRequest, Sort, ValueFilter

SHOWN = 8
FEWEST = 4  # With fewer products that sell well, others are added.
IN_STOCK = ValueFilter("inStock", ("true",))


@dataclass(frozen=True, slots=True)
class PopularProducts:
    """Products that are in stock. `sell` is whether all of them sell well; featured and new ones are among them
    otherwise."""

    hits: tuple[Hit, ...] = ()
    sell: bool = False


def popular_products(engine: SearchEngine, shop: Shop, now: datetime) -> PopularProducts:
    """Return the products in one query and one call of the engine. Raises SearchUnavailable."""
    skus = selling_products(shop.site_id, now, SHOWN)
    by_sku = SearchRequest(scope=(ValueFilter("sku", tuple(skus)), IN_STOCK), per_page=SHOWN, fresh=True)
    featured = SearchRequest(scope=(IN_STOCK,), sort=Sort.FEATURED, per_page=SHOWN, fresh=True)
    found, others = engine.search_many(shop.site_id, IndexName.PRODUCTS, [by_sku, featured])
    selling = sorted(found.hits, key=lambda hit: skus.index(str(hit.card["sku"])))
    if len(selling) >= FEWEST:
        return PopularProducts(tuple(selling), sell=True)
    ids = {hit.id for hit in selling}
    return PopularProducts((*selling, *(hit for hit in others.hits if hit.id not in ids))[:SHOWN])
