"""Collections and pages of text."""

from __future__ import annotations

from app import ports
from app.blueprints.storefront.blueprint import bp, current_shop
from app.blueprints.storefront.presentation import drawn
from app.domain.merchandising.content import collection_at, page_at
from app.domain.search.browsing import collection_products
from app.permissions import public


@bp.get("/collections/<seo_name>")
@public
def collection(seo_name: str) -> str:
    shop = current_shop()
    shown = collection_at(shop.site_id, seo_name)
    hits = collection_products(ports.search_engine(), shop, shown.id, shown.product_ids)
    return drawn("storefront/collection.html", shop=shop, collection=shown, hits=hits)


@bp.get("/pages/<seo_name>")
@public
def page(seo_name: str) -> str:
    shop = current_shop()
    return drawn("storefront/page.html", shop=shop, page=page_at(shop.site_id, seo_name))
