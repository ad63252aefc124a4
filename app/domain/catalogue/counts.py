"""How much a site's catalogue holds, for the dashboard."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, case, func, select

from app.domain.catalogue.models import Collection, Page, Product
from app.extensions import db


@dataclass(frozen=True, slots=True)
class Counts:
    """Products that shoppers see and that are hidden; `sold_out` are shown ones whose own stock is counted and 0."""

    products_shown: int
    products_hidden: int
    sold_out: int
    collections: int
    pages: int


def counts(site_id: int) -> Counts:
    sold_out = case((Product.enabled & (Product.stock == 0) & ~Product.variants.any(), 1), else_=0)
    query = select(func.count(), _sum(case((Product.enabled, 1), else_=0)), _sum(sold_out))
    total, shown, out = db.session.execute(query.where(Product.site_id == site_id)).one()
    return Counts(
        products_shown=shown,
        products_hidden=total - shown,
        sold_out=out,
        collections=_number_of(Collection, site_id),
        pages=_number_of(Page, site_id),
    )


def _sum(condition: ColumnElement[int]) -> ColumnElement[int]:
    return func.coalesce(func.sum(condition), 0)


def _number_of(model: type[Collection] | type[Page], site_id: int) -> int:
    return db.session.scalar(select(func.count()).select_from(model).where(model.site_id == site_id)) or 0
