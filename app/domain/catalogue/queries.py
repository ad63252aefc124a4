"""Queries for the admin's lists: a few statements a page, whatever the size of the catalogue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, case, func, or_, select
from sqlalchemy.orm import InstrumentedAttribute

from app.domain.catalogue.listing import PAGE_SIZE, ProductList, ProductOrder, Shown, Stock
from app.domain.catalogue.models import Product, ProductImage
from app.domain.shared.containing import containing
from app.domain.shared.paging import Paged
from app.extensions import db

LOOKUP_SIZE = 10


@dataclass(frozen=True, slots=True)
class ProductRow:
    """A product in a list. `price` in minor units; `completeness` in per cent of what must be known about its level;
    `image` is the file of the first picture."""

    id: int
    sku: str
    name: str
    seo_name: str
    manufacturer: str
    price: int
    stock: int | None
    enabled: bool
    level_id: str | None
    completeness: int | None
    updated_at: datetime
    image: str | None = None


ROW_COLUMNS = (
    Product.id,
    Product.sku,
    Product.name,
    Product.seo_name,
    Product.manufacturer,
    Product.price,
    Product.stock,
    Product.enabled,
    Product.taxonomy_level_id.label("level_id"),
    Product.completeness_score.label("completeness"),
    Product.updated_at,
)
ORDERS: dict[ProductOrder, tuple[Any, ...]] = {
    ProductOrder.CHANGED: (Product.updated_at.desc(), Product.id.desc()),
    ProductOrder.NAME: (Product.name, Product.id),
    ProductOrder.SKU: (Product.sku,),
    ProductOrder.PRICE: (Product.price, Product.id),
    ProductOrder.PRICE_DOWN: (Product.price.desc(), Product.id.desc()),
    ProductOrder.STOCK: (case((Product.stock.is_(None), 1), else_=0), Product.stock, Product.id),
}


def products(site_id: int, filters: ProductList, more: Sequence[ColumnElement[bool]] = ()) -> Paged[ProductRow]:
    """A page of products in three statements. `more` are conditions that other contexts add."""
    order = ORDERS[filters.order]
    matching = matching_ids(site_id, filters, more)
    total = db.session.scalar(matching.with_only_columns(func.count())) or 0
    # Only ids are put in order, which is twice as quick as carrying whole rows through the sort.
    shown = matching.order_by(*order).limit(PAGE_SIZE).offset((filters.page - 1) * PAGE_SIZE)
    page = select(*ROW_COLUMNS).where(Product.id.in_(shown)).order_by(*order)
    return Paged(_with_images(db.session.execute(page).all()), filters.page, PAGE_SIZE, total)


def matching_ids(site_id: int, filters: ProductList, more: Sequence[ColumnElement[bool]] = ()) -> Select[int]:
    """The ids of all products that a list is narrowed to, in any order."""
    return _narrowed(select(Product.id).where(Product.site_id == site_id, *more), filters)


def find_products(site_id: int, words: str, limit: int = LOOKUP_SIZE) -> list[ProductRow]:
    """Return the products that `looked_up` finds, with their first pictures."""
    return _with_images(looked_up(select(*ROW_COLUMNS).where(Product.site_id == site_id), words, limit))


def looked_up(query: Select[*tuple[Any, ...]], words: str, limit: int) -> Sequence[Any]:
    """Return rows of products whose name, SKU or SEO name contains the words as they were typed; where none does, those
    with each of the words. A whole SKU comes first, the rest by name; none for no words."""
    as_typed = " ".join(words.split())
    ordered = query.order_by(case((Product.sku == as_typed, 0), else_=1), *ORDERS[ProductOrder.NAME]).limit(limit)
    ways = (contains_words(as_typed), contains_each_word(as_typed)) if as_typed else ()
    return next((rows for way in ways if (rows := db.session.execute(ordered.where(way)).all())), [])


def products_by_id(site_id: int, product_ids: Sequence[int]) -> list[ProductRow]:
    """The products of this site among the ids, in the order of the ids."""
    query = select(*ROW_COLUMNS).where(Product.site_id == site_id, Product.id.in_(product_ids))
    rows = {row.id: row for row in _with_images(db.session.execute(query).all())}
    return [rows[product_id] for product_id in product_ids if product_id in rows]


def products_by_sku(site_id: int, skus: Sequence[str]) -> dict[str, ProductRow]:
    """The products of this site that have one of the SKUs."""
    if not skus:
        return {}
    query = select(*ROW_COLUMNS).where(Product.site_id == site_id, Product.sku.in_(set(skus)))
    return {row.sku: row for row in _with_images(db.session.execute(query).all())}


def manufacturers(site_id: int, words: str, limit: int = 20) -> list[str]:
    """Names of manufacturers that contain the words, in their order."""
    query = select(Product.manufacturer).distinct().where(Product.site_id == site_id, Product.manufacturer != "")
    narrowed = query.where(contains(Product.manufacturer, words.strip()))
    return list(db.session.scalars(narrowed.order_by(Product.manufacturer).limit(limit)))


def contains_words(words: str) -> ColumnElement[bool]:
    """Return the condition that name, SKU or SEO name contains the words as they are, whatever their case."""
    text = words.strip()
    return or_(contains(Product.name, text), containing(Product.sku, text), containing(Product.seo_name, text))


def contains_each_word(words: str) -> ColumnElement[bool]:
    """Return the condition that each of the words is somewhere in name, SKU or SEO name: people leave out what stands
    between two words."""
    return and_(*(contains_words(word) for word in dict.fromkeys(words.split())))


def contains(column: ColumnElement[str] | InstrumentedAttribute[str], text: str) -> ColumnElement[bool]:
    """Return the condition that the column contains the text, whatever its case. SQLite knows the case of ASCII letters
    only, so other letters are looked for in their usual spellings."""
    spellings = {text} if text.isascii() else {text, text.lower(), text.upper(), text.capitalize()}
    return or_(*(containing(column, spelling) for spelling in sorted(spellings)))


def _narrowed(query: Select[int], filters: ProductList) -> Select[int]:
    conditions: list[ColumnElement[bool]] = []
    if filters.words:
        conditions.append(contains_words(filters.words))
    if filters.shown is not Shown.ALL:
        conditions.append(Product.enabled == (filters.shown is Shown.ENABLED))
    if filters.manufacturer:
        conditions.append(Product.manufacturer == filters.manufacturer)
    return query.where(*conditions, *_stock_conditions(filters.stock))


def _stock_conditions(stock: Stock) -> tuple[ColumnElement[bool], ...]:
    conditions: dict[Stock, tuple[ColumnElement[bool], ...]] = {
        Stock.IN: (Product.stock > 0,),
        Stock.OUT: (Product.stock == 0,),
        Stock.UNCOUNTED: (Product.stock.is_(None),),
    }
    return conditions.get(stock, ())


def _with_images(rows: Sequence[Any]) -> list[ProductRow]:
    ids = [row.id for row in rows]
    query = select(ProductImage.product_id, ProductImage.file).where(ProductImage.product_id.in_(ids))
    found = db.session.execute(query.order_by(ProductImage.position.desc())) if ids else ()
    first = {product_id: file for product_id, file in found}
    return [ProductRow(**row._mapping, image=first.get(row.id)) for row in rows]
