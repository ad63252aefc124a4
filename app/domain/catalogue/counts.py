"""The numbers of records in a site's catalogue, for the dashboard."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, func, select

from app.domain.catalogue.models import Collection, Page, Product
from app.extensions import db


@dataclass(frozen=True, slots=True)
class CatalogueCounts:
    """The numbers of products that shoppers see and that are hidden, and of other records; `sold_out` are shown
    products without variants whose stock is counted and 0."""

    products_shown: int
    products_hidden: int
    sold_out: int
    collections: int
    pages: int


def counts(site_id: int) -> CatalogueCounts:
    shown = _number_of(Product, site_id, Product.enabled.is_(True))
    sold_out = (Product.enabled.is_(True), Product.stock == 0, ~Product.variants.any())
    return CatalogueCounts(
        products_shown=shown,
        products_hidden=_number_of(Product, site_id) - shown,
        sold_out=_number_of(Product, site_id, *sold_out),
        collections=_number_of(Collection, site_id),
        pages=_number_of(Page, site_id),
    )


def _number_of(model: type[Product | Collection | Page], site_id: int, *conditions: ColumnElement[bool]) -> int:
    query = select(func.count()).select_from(model).where(model.site_id == site_id, *conditions)
    return db.session.scalar(query) or 0
