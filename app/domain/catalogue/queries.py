"""Queries of products: the lists of the admin, one product by any reference to it, and products for sale as programs
read them. A few statements a page, whatever the size of the catalogue."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, case, func, or_, select, union_all
from sqlalchemy.orm import selectinload

from app.domain.catalogue.listing import PAGE_SIZE, ProductList, ProductOrder, Shown, Stock
from app.domain.catalogue.models import Collection, CollectionEntry, Page, Product, ProductImage, Variant
from app.domain.shared.addresses import id_in
from app.domain.shared.paging import Paged
from app.domain.shared.records import MOST_COUNTED, containing, contains, count_rows, distinct_values, existing
from app.extensions import db

LOOKUP_SIZE = 10
MOST_LISTED = 200  # SKUs of a list.
LONGEST_LIST = 4_000  # Characters.
SEPARATORS = re.compile(r"[\s,;]+")
OF_LISTS = re.compile(r"[,;\t\n]")  # Blanks alone may part words.
MOST_FOUND = 20_000


@dataclass(frozen=True, slots=True)
class ProductRow:
    """A product in a list. `price` in minor units; `completeness` in per cent of what must be known about its level;
    `attributes` are the values by attribute; `image` is the file of the first picture."""

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
    attributes: Mapping[str, Any] = field(default_factory=dict)
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
    Product.taxonomy_attributes.label("attributes"),
)
ORDERS: dict[ProductOrder, tuple[Any, ...]] = {
    ProductOrder.CHANGED: (Product.updated_at.desc(), Product.id.desc()),
    ProductOrder.NAME: (Product.name, Product.id),
    ProductOrder.SKU: (Product.sku,),
    ProductOrder.PRICE: (Product.price, Product.id),
    ProductOrder.PRICE_DOWN: (Product.price.desc(), Product.id.desc()),
    ProductOrder.STOCK: (Product.stock.nulls_last(), Product.id),
}


def list_products(site_id: int, filters: ProductList, more: Sequence[ColumnElement[bool]] = ()) -> Paged[ProductRow]:
    """Return a page of products in three statements, among the first MOST_COUNTED, or the first MOST_FOUND where each
    product has to be looked at. `more` are conditions that other contexts add."""
    order = ORDERS[filters.order]
    most = MOST_FOUND if filters.words or filters.missing else MOST_COUNTED
    matching = matching_ids(site_id, filters, more)
    total = count_rows(matching, most)
    # Only ids are put in order, which is twice as quick as carrying whole rows through the sort.
    shown = matching.order_by(*order).limit(PAGE_SIZE).offset((filters.page - 1) * PAGE_SIZE)
    page = select(*ROW_COLUMNS).where(Product.id.in_(shown)).order_by(*order)
    rows = db.session.execute(page).all() if (filters.page - 1) * PAGE_SIZE < most else ()
    return Paged(_add_images(rows), filters.page, PAGE_SIZE, min(total, most), total > most)


def matching_ids(site_id: int, filters: ProductList, more: Sequence[ColumnElement[bool]] = ()) -> Select[int]:
    """Return the ids of all products that a list is narrowed to, in any order."""
    return _narrow(select(Product.id).where(Product.site_id == site_id, *more), filters)


def find_products(site_id: int, words: str, limit: int = LOOKUP_SIZE) -> list[ProductRow]:
    """Return the products that `look_up` finds, with their first pictures."""
    return _add_images(look_up(select(*ROW_COLUMNS).where(Product.site_id == site_id), words, limit))


def look_up(query: Select[*tuple[Any, ...]], words: str, limit: int) -> Sequence[Any]:
    """Return rows of products whose name, SKU or SEO name contains the words as they were typed; where none does, those
    with each of the words. A whole SKU comes first, the rest by name; none for no words."""
    as_typed = " ".join(words.split())
    ordered = query.order_by(case((Product.sku == as_typed, 0), else_=1), *ORDERS[ProductOrder.NAME]).limit(limit)
    ways = (contains_words(as_typed), contains_each_word(as_typed)) if as_typed else ()
    return next((rows for way in ways if (rows := db.session.execute(ordered.where(way)).all())), [])


def products_by_id(site_id: int, product_ids: Sequence[int]) -> list[ProductRow]:
    """Return the products of this site among the ids, in the order of the ids."""
    query = select(*ROW_COLUMNS).where(Product.site_id == site_id, Product.id.in_(product_ids))
    rows = {row.id: row for row in _add_images(db.session.execute(query).all())}
    return [rows[product_id] for product_id in product_ids if product_id in rows]


def products_by_sku(site_id: int, skus: Sequence[str]) -> dict[str, ProductRow]:
    """Return the products of this site that have one of the SKUs."""
    if not skus:
        return {}
    query = select(*ROW_COLUMNS).where(Product.site_id == site_id, Product.sku.in_(set(skus)))
    return {row.sku: row for row in _add_images(db.session.execute(query).all())}


@dataclass(frozen=True, slots=True)
class ListedProducts:
    """The products of a list of SKUs, in its order, and the `unknown` SKUs, which no product of the site has. The
    number of SKUs `left_out` is that beyond MOST_LISTED; with `is_cut`, what follows LONGEST_LIST is left out as
    well."""

    products: Sequence[ProductRow] = ()
    unknown: Sequence[str] = ()
    left_out: int = 0
    is_cut: bool = False


def products_of_list(site_id: int, text: str) -> ListedProducts:
    """Return the products of a list of SKUs with commas, semicolons or blanks between, as it is copied from a table;
    nothing for a text that is a search by words: with one word, or with blanks alone between words of which fewer than
    two are SKUs. Browsers cut a text at LONGEST_LIST, so the last part of one so long is no SKU."""
    is_cut = len(text) >= LONGEST_LIST
    parts = SEPARATORS.split(text[:LONGEST_LIST])[: -1 if is_cut else None]
    all_skus = list(dict.fromkeys(part for part in parts if part))
    skus = all_skus[:MOST_LISTED]
    known = products_by_sku(site_id, skus) if len(skus) > 1 else {}
    if len(skus) < 2 or (len(known) < 2 and not OF_LISTS.search(text)):
        return ListedProducts()
    found, unknown = [known[sku] for sku in skus if sku in known], [sku for sku in skus if sku not in known]
    return ListedProducts(found, unknown, len(all_skus) - len(skus), is_cut)


def manufacturers(site_id: int, words: str, limit: int = 20) -> list[str]:
    """Return the names of manufacturers that contain the words, in their order."""
    names = distinct_values(Product.manufacturer, Product.site_id == site_id, Product.manufacturer != "").subquery()
    name = names.c[0]
    return list(db.session.scalars(select(name).where(contains(name, words.strip())).order_by(name).limit(limit)))


def contains_words(words: str) -> ColumnElement[bool]:
    """Return the condition that name, SKU or SEO name contains the words as they are, whatever their case."""
    text = words.strip()
    return or_(contains(Product.name, text), containing(Product.sku, text), containing(Product.seo_name, text))


def contains_each_word(words: str) -> ColumnElement[bool]:
    """Return the condition that each of the words is somewhere in name, SKU or SEO name: people leave out what stands
    between two words."""
    return and_(*(contains_words(word) for word in dict.fromkeys(words.split())))


def _narrow(query: Select[int], filters: ProductList) -> Select[int]:
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


def _add_images(rows: Sequence[Any]) -> list[ProductRow]:
    ids = [row.id for row in rows]
    query = select(ProductImage.product_id, ProductImage.file).where(ProductImage.product_id.in_(ids))
    found = db.session.execute(query.order_by(ProductImage.position.desc())) if ids else ()
    first = {product_id: file for product_id, file in found}
    return [ProductRow(**row._mapping, image=first.get(row.id)) for row in rows]


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
    shown = _count(Product, site_id, Product.enabled.is_(True))
    sold_out = (Product.enabled.is_(True), Product.stock == 0, ~Product.variants.any())
    return CatalogueCounts(
        products_shown=shown,
        products_hidden=_count(Product, site_id) - shown,
        sold_out=_count(Product, site_id, *sold_out),
        collections=_count(Collection, site_id),
        pages=_count(Page, site_id),
    )


def _count(model: type[Product | Collection | Page], site_id: int, *conditions: ColumnElement[bool]) -> int:
    query = select(func.count()).select_from(model).where(model.site_id == site_id, *conditions)
    return db.session.scalar(query) or 0


LONGEST_REFERENCE = 200


def referred_product(site_id: int, reference: str) -> Product | None:
    """Return the first that exists: the product of this SKU, of this SEO name, of this id, with a variant of this SKU,
    or of a SKU that differs in case alone. None for no words and for a product of another site."""
    text = reference.strip()
    if not text or len(text) > LONGEST_REFERENCE or "\0" in text:
        return None
    own = select(Product).where(Product.site_id == site_id).options(selectinload(Product.variants))
    found = (db.session.scalar(query.limit(1)) for query in _queries_of_reference(own, site_id, text))
    return next((product for product in found if product is not None), None)


def _queries_of_reference(own: Select[Product], site_id: int, text: str) -> Iterator[Select[Product]]:
    yield own.where(Product.sku == text)
    yield own.where(Product.seo_name == text)
    if product_id := id_in(text):
        yield own.where(Product.id == product_id)
    of_variants = select(Variant.product_id).where(Variant.site_id == site_id)
    yield own.where(Product.id.in_(of_variants.where(Variant.sku == text)))
    yield own.where(func.lower(Product.sku) == func.lower(text)).order_by(Product.id)
    yield own.where(Product.id.in_(of_variants.where(func.lower(Variant.sku) == func.lower(text)))).order_by(Product.id)


def product_referred_to(site_id: int, reference: str) -> Product:
    """Return the product of a reference. Raises NotFound."""
    shown = reference.strip()[:80]
    return existing(
        referred_product(site_id, reference), f"No product of this site has the SKU, SEO name or id “{shown}”."
    )


UPC_DIGITS, EAN_DIGITS = 12, 13


@dataclass(frozen=True, slots=True)
class Lookup:
    """The filters of a list of products; each that is not empty must hold. Each of the `words` is in name, SKU or SEO
    name, or is a code; `upc` is a product's or a variant's."""

    words: str = ""
    upc: str = ""
    seo_name: str = ""


def products_for_sale(site_id: int, lookup: Lookup, page_number: int, page_size: int) -> Paged[Product]:
    """Return a page of products by name, straight from the database."""
    ids = _ids_for_sale(site_id).where(*_conditions(site_id, lookup)).order_by(Product.name, Product.id)
    return _page_for_sale(site_id, ids, page_number, page_size)


@dataclass(frozen=True, slots=True)
class CollectionRow:
    """A collection that shoppers see; `products` counts those that are for sale."""

    seo_name: str
    name: str
    products: int


def collections_shown(site_id: int, page_number: int, page_size: int) -> Paged[CollectionRow]:
    """Return a page of the collections that shoppers see, by name."""
    sold = and_(Product.id == CollectionEntry.product_id, Product.enabled)
    query = (
        select(Collection.seo_name, Collection.name, func.count(Product.id).label("products"))
        .outerjoin(CollectionEntry, CollectionEntry.collection_id == Collection.id)
        .outerjoin(Product, sold)
        .where(Collection.site_id == site_id, Collection.enabled)
        .group_by(Collection.id)
        .order_by(Collection.name, Collection.id)
    )
    rows = db.session.execute(query.limit(page_size).offset((page_number - 1) * page_size))
    total = _count(Collection, site_id, Collection.enabled.is_(True))
    return Paged([CollectionRow(*row) for row in rows], page_number, page_size, total)


def products_of_collection(site_id: int, seo_name: str, page_number: int, page_size: int) -> Paged[Product]:
    """Return a page of a collection's products in its own order. Raises NotFound for one that is not there or
    hidden."""
    wanted = Collection.site_id == site_id, Collection.seo_name == seo_name, Collection.enabled
    found = db.session.scalar(select(Collection.id).where(*wanted))
    collection_id = existing(found, "This collection does not exist or has been removed.")
    entries = _ids_for_sale(site_id).join(CollectionEntry, CollectionEntry.product_id == Product.id)
    ids = entries.where(CollectionEntry.collection_id == collection_id).order_by(CollectionEntry.position, Product.id)
    return _page_for_sale(site_id, ids, page_number, page_size)


def product_for_sale(site_id: int, sku: str) -> Product:
    """Return the product for sale with a variant of this SKU, else the one with this SKU itself. Raises NotFound."""
    of_variant = db.session.scalar(select(Variant.product_id).where(Variant.site_id == site_id, Variant.sku == sku))
    named = Product.sku == sku if of_variant is None else Product.id == of_variant
    return existing(
        db.session.scalar(_for_sale(site_id).where(named)), "This product does not exist or is no longer sold."
    )


def products_for_sale_by_id(site_id: int, ids: Sequence[int]) -> list[Product]:
    """Return the products that are for sale, in the order of the ids."""
    found = {product.id: product for product in db.session.scalars(_for_sale(site_id).where(Product.id.in_(ids)))}
    return [found[product_id] for product_id in ids if product_id in found]


def _page_for_sale(site_id: int, ids: Select[int], page_number: int, page_size: int) -> Paged[Product]:
    total = db.session.scalar(select(func.count()).select_from(ids.order_by(None).subquery())) or 0
    shown = db.session.scalars(ids.limit(page_size).offset((page_number - 1) * page_size)).all()
    return Paged(products_for_sale_by_id(site_id, shown) if shown else [], page_number, page_size, total)


def _ids_for_sale(site_id: int) -> Select[int]:
    return select(Product.id).where(Product.site_id == site_id, Product.enabled)


def _for_sale(site_id: int) -> Select[Product]:
    parts = selectinload(Product.variants), selectinload(Product.images)
    return select(Product).where(Product.site_id == site_id, Product.enabled).options(*parts)


def _conditions(site_id: int, lookup: Lookup) -> list[ColumnElement[bool]]:
    words = dict.fromkeys(lookup.words.split())
    conditions = [or_(contains_words(word), _has_code(site_id, [word], or_skus=True)) for word in words]
    if lookup.upc:
        conditions.append(_has_code(site_id, _spellings_of_upc(lookup.upc)))
    return [*conditions, Product.seo_name == lookup.seo_name] if lookup.seo_name else conditions


def _has_code(site_id: int, codes: Sequence[str], or_skus: bool = False) -> ColumnElement[bool]:
    """Return the condition that a UPC of the product or of a variant is among the codes; with `or_skus` also a
    variant's SKU."""
    found = [
        select(Product.id).where(Product.site_id == site_id, Product.upc.in_(codes)),
        select(Variant.product_id).where(Variant.site_id == site_id, Variant.upc.in_(codes)),
    ]
    if or_skus:
        found.append(select(Variant.product_id).where(Variant.site_id == site_id, Variant.sku.in_(codes)))
    return Product.id.in_(union_all(*found))


def _spellings_of_upc(upc: str) -> list[str]:
    """Return a UPC in both spellings: scanners read one of 12 digits as an EAN of 13 that begins with 0, or the other
    way round."""
    if len(upc) == UPC_DIGITS:
        return [upc, f"0{upc}"]
    return [upc, upc[1:]] if len(upc) == EAN_DIGITS and upc.startswith("0") else [upc]
