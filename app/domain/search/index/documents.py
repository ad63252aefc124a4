"""Reads the documents of a site from its tables, a thousand records at a time and in a handful of statements each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Collection as Several
from functools import partial
from typing import Any

from sqlalchemy import Select, func, select

from app.domain.catalogue.models import Collection, CollectionEntry, Page, Product, ProductImage, Variant
from app.domain.merchandising.models import Placement
from app.domain.merchandising.shop import load_tree
from app.domain.orders.models import ProductSales
from app.domain.search.engine import IndexDocument, IndexName
from app.domain.search.index.document import (
    ContentFacts,
    DocumentPicture,
    ProductFacts,
    VariantFacts,
    content_document,
    product_document,
)
from app.domain.search.index.outbox import COLLECTION, PAGE, PRODUCT
from app.domain.taxonomy.products.classification import active_tree
from app.extensions import db

Query = Select[*tuple[Any, ...]]
Refuse = Callable[[str, int, Exception], None]  # Gets the kind, the id and the error of a record without document.
BATCH = 1000

_PRODUCT_COLUMNS = (
    Product.id,
    Product.sku,
    Product.name,
    Product.seo_name,
    Product.manufacturer,
    Product.description,
    Product.price,
    Product.compare_at_price,
    Product.upc,
    Product.stock,
    Product.featured,
    Product.rating,
    Product.search_terms,
    Product.created_at,
    Product.taxonomy_level_id.label("level_id"),
    Product.taxonomy_attributes.label("attribute_values"),
)


def count_of(site_id: int, index: IndexName) -> int:
    """Return how many documents a rebuild of the index will write, as things stand."""
    models: tuple[Any, ...] = (Product,) if index is IndexName.PRODUCTS else (Page, Collection)
    counts = (
        db.session.scalar(select(func.count()).select_from(model).where(model.site_id == site_id, model.enabled))
        for model in models
    )
    return sum(count or 0 for count in counts)


def product_documents(
    site_id: int, product_ids: Several[int] | None = None, refuse: Refuse | None = None
) -> Iterator[IndexDocument]:
    """Yield the documents of the enabled products of a site, all or those named, in batches, so that memory stays
    flat. The caller may end the transaction between two documents: no result is being fetched then."""
    taxonomy, tree = active_tree(site_id), load_tree(site_id)
    enabled = select(*_PRODUCT_COLUMNS).where(Product.site_id == site_id, Product.enabled)
    for rows in _batches(enabled, Product.id, product_ids):
        for facts in _product_facts(rows):
            yield from _made(PRODUCT, facts.id, partial(product_document, facts, taxonomy, tree), refuse)


def content_documents(
    site_id: int, records: Several[tuple[str, int]] | None = None, refuse: Refuse | None = None
) -> Iterator[IndexDocument]:
    """Yield the documents of the enabled pages and collections of a site, all or the (kind, id) named."""
    pages = select(Page.id, Page.title, Page.seo_name, Page.body)
    collections = select(Collection.id, Collection.name, Collection.seo_name, Collection.description)
    for kind, model, query in ((PAGE, Page, pages), (COLLECTION, Collection, collections)):
        wanted = None if records is None else {record_id for named, record_id in records if named == kind}
        enabled = query.where(model.site_id == site_id, model.enabled)
        for rows in _batches(enabled, model.id, wanted):
            for row in rows:
                facts = ContentFacts(kind, *row)
                yield from _made(kind, facts.id, partial(content_document, facts), refuse)


def _made(kind: str, record_id: int, make: Callable[[], IndexDocument], refuse: Refuse | None) -> list[IndexDocument]:
    """Return the document of a record in a list, which is empty where the record was refused: stored values that no
    rule would accept must not keep other records out of the index."""
    try:
        return [make()]
    except Exception as error:
        if refuse is None:
            raise
        refuse(kind, record_id, error)
        return []


def _batches(query: Query, key: Any, ids: Several[int] | None) -> Iterator[list[Any]]:
    if ids is not None:
        wanted = sorted(ids)
        for start in range(0, len(wanted), BATCH):
            yield list(db.session.execute(query.where(key.in_(wanted[start : start + BATCH])).order_by(key)))
        return
    last = 0
    while rows := list(db.session.execute(query.where(key > last).order_by(key).limit(BATCH))):
        yield rows
        last = rows[-1].id


def _product_facts(rows: Iterable[Any]) -> Iterator[ProductFacts]:
    rows = list(rows)
    ids = [row.id for row in rows]
    variants = _variants(ids)
    pictures = _pictures(ids)
    placed = _grouped(select(Placement.product_id, Placement.node_id).where(Placement.product_id.in_(ids)))
    sold = _sold(ids)
    collected = _grouped(
        select(CollectionEntry.product_id, CollectionEntry.collection_id).where(CollectionEntry.product_id.in_(ids))
    )
    for row in rows:
        yield ProductFacts(
            **row._mapping,
            variants=variants[row.id],
            picture=pictures.get(row.id),
            placed_in=placed[row.id],
            collections=collected[row.id],
            sold=sold.get(row.id, 0),
        )


def _variants(product_ids: list[int]) -> Mapping[int, list[VariantFacts]]:
    query = select(Variant.product_id, Variant.sku, Variant.upc, Variant.stock)
    found: dict[int, list[VariantFacts]] = defaultdict(list)
    ordered = query.where(Variant.product_id.in_(product_ids)).order_by(Variant.position, Variant.id)
    for product_id, sku, upc, stock in db.session.execute(ordered):
        found[product_id].append(VariantFacts(sku, upc, stock))
    return found


def _pictures(product_ids: list[int]) -> dict[int, DocumentPicture]:
    """The first picture of each product."""
    query = select(ProductImage.product_id, ProductImage.file, ProductImage.width, ProductImage.height)
    last_first = query.where(ProductImage.product_id.in_(product_ids)).order_by(
        ProductImage.position.desc(), ProductImage.id.desc()
    )
    return {
        product_id: DocumentPicture(file, width, height)
        for product_id, file, width, height in db.session.execute(last_first)
    }


def _sold(product_ids: list[int]) -> dict[int, int]:
    query = select(ProductSales.product_id, ProductSales.units).where(ProductSales.product_id.in_(product_ids))
    return {product_id: units for product_id, units in db.session.execute(query)}


def _grouped(query: Query) -> Mapping[int, list[int]]:
    found: dict[int, list[int]] = defaultdict(list)
    for product_id, value in db.session.execute(query):
        found[product_id].append(value)
    return found
