"""Products that a rule places and no search shows, because they are sold out."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import select
from sqlalchemy.orm import selectinload

from app.domain.catalogue.models import Product
from app.domain.catalogue.product_rules import is_in_stock
from app.domain.search.ranking_settings import RankingSettings
from app.extensions import db


def hidden_as_sold_out(site_id: int, skus: Collection[str], ranking: RankingSettings) -> frozenset[str]:
    """Return those of the SKUs whose products are hidden from searches as sold out; none where nothing is hidden."""
    if not (skus and ranking.hides_sold_out):
        return frozenset()
    query = select(Product).where(Product.site_id == site_id, Product.enabled, Product.sku.in_(set(skus)))
    products = db.session.scalars(query.options(selectinload(Product.variants)))
    return frozenset(p.sku for p in products if not is_in_stock(p.stock, [variant.stock for variant in p.variants]))
