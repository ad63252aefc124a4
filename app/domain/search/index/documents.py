"""The documents of a site's indexes, read from its tables a thousand records at a time and in a handful of statements
each, and the changes that bring an index up to date with records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Collection as Several
from functools import partial
from typing import Any

from sqlalchemy import Select, func, select

from app.domain.catalogue.models import Collection, CollectionEntry, Page, Product, ProductImage, Variant
from app.domain.merchandising.models import Placement
from app.domain.merchandising.shop import load_tree
from app.domain.orders.models import ProductSales
from app.domain.search.engine import Change, Delete, IndexDocument, IndexName, Upsert
from app.domain.search.index.document import (
    ContentFacts,
    DocumentPicture,
    ProductFacts,
    VariantFacts,
    content_document,
    content_document_id,
    product_document,
    product_document_id,
)
from app.domain.search.index.outbox import COLLECTION, PAGE, PRODUCT
from app.domain.sites.settings import settings_of
from app.domain.taxonomy.taxonomies import active_tree
from app.extensions import db

Record = tuple[str, int]  # The kind of the outbox, and the id.
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


def content_search_is_on(site_id: int) -> bool:
    """Whether the site's search finds pages and collections, too."""
    return bool(settings_of(site_id)["search-content-enabled"])


def ranks_by_meaning(site_id: int) -> bool:
    """Whether a site's settings let the meaning of words count in its searches."""
    return bool(settings_of(site_id)["search-by-meaning"])


def count_of(site_id: int, index: IndexName) -> int:
    """Return how many documents a rebuild of the index will write, as things stand."""
    models: tuple[Any, ...] = (Product,) if index is IndexName.PRODUCTS else (Page, Collection)
    counts = (
        db.session.scalar(select(func.count()).select_from(model).where(model.site_id == site_id, model.enabled))
        for model in models
    )
    return sum(count or 0 for count in counts)


def documents_of(
    site_id: int, index: IndexName, records: Several[Record] | None = None, refuse: Refuse | None = None
) -> Iterator[IndexDocument]:
    """Yield all documents of an index, or those of `records`. A record of which no document can be made is passed to
    `refuse` and left out; without `refuse` its exception is raised."""
    if index is IndexName.PRODUCTS:
        ids = None if records is None else {record_id for _, record_id in records}
        return product_documents(site_id, ids, refuse=refuse)
    return content_documents(site_id, records, refuse=refuse)


def changes_of(site_id: int, index: IndexName, records: Several[Record], refuse: Refuse | None = None) -> list[Change]:
    """Return a change for each record as it is now: one that is gone or not enabled is deleted from the index. Refused
    records are left out; without `refuse` their exception is raised."""
    refused: set[Record] = set()

    def note(kind: str, record_id: int, error: Exception) -> None:
        refused.add((kind, record_id))
        if refuse is None:
            raise error
        refuse(kind, record_id, error)

    documents = {document.id: document for document in documents_of(site_id, index, records, note)}
    wanted = [document_id(*record) for record in sorted(records) if record not in refused]
    return [Upsert(documents[id]) if id in documents else Delete(id) for id in wanted]


def document_id(kind: str, record_id: int) -> str:
    return product_document_id(record_id) if kind == PRODUCT else content_document_id(kind, record_id)


def record_of(document_id: str) -> Record | None:
    """Return the record behind a document of an index; None for an id that this shop never gives."""
    for kind, prefix in ((PRODUCT, "p"), (PAGE, f"{PAGE}:"), (COLLECTION, f"{COLLECTION}:")):
        number = document_id.removeprefix(prefix)
        if number != document_id and number.isascii() and number.isdigit():
            return kind, int(number)
    return None


def product_documents(
    site_id: int, product_ids: Several[int] | None = None, refuse: Refuse | None = None
) -> Iterator[IndexDocument]:
    """Yield the documents of the enabled products of a site, all or those named, in batches, so that memory stays
    flat. The caller may end the transaction between two documents: no result is being fetched then."""
    taxonomy, tree = active_tree(site_id), load_tree(site_id)
    enabled = select(*_PRODUCT_COLUMNS).where(Product.site_id == site_id, Product.enabled)
    for rows in _batches(enabled, Product.id, product_ids):
        for facts in _read_facts(rows):
            yield from _make(PRODUCT, facts.id, partial(product_document, facts, taxonomy, tree), refuse)


def content_documents(
    site_id: int, records: Several[Record] | None = None, refuse: Refuse | None = None
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
                yield from _make(kind, facts.id, partial(content_document, facts), refuse)


def _make(kind: str, record_id: int, make: Callable[[], IndexDocument], refuse: Refuse | None) -> list[IndexDocument]:
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


def _read_facts(rows: Sequence[Any]) -> Iterator[ProductFacts]:
    """Yield the facts about products, given the rows of a batch of them."""
    ids = [row.id for row in rows]
    variants: dict[int, list[VariantFacts]] = defaultdict(list)
    of_products = select(Variant.product_id, Variant.sku, Variant.upc, Variant.stock).where(Variant.product_id.in_(ids))
    for product_id, sku, upc, stock in db.session.execute(of_products.order_by(Variant.position, Variant.id)):
        variants[product_id].append(VariantFacts(sku, upc, stock))
    images = select(ProductImage.product_id, ProductImage.file, ProductImage.width, ProductImage.height)
    last_first = images.where(ProductImage.product_id.in_(ids)).order_by(
        ProductImage.position.desc(), ProductImage.id.desc()
    )
    first_pictures = {
        product_id: DocumentPicture(file, width, height)
        for product_id, file, width, height in db.session.execute(last_first)
    }
    placed = _group(select(Placement.product_id, Placement.node_id).where(Placement.product_id.in_(ids)))
    sales = select(ProductSales.product_id, ProductSales.units).where(ProductSales.product_id.in_(ids))
    sold = {product_id: units for product_id, units in db.session.execute(sales)}
    collected = _group(
        select(CollectionEntry.product_id, CollectionEntry.collection_id).where(CollectionEntry.product_id.in_(ids))
    )
    for row in rows:
        yield ProductFacts(
            **row._mapping,
            variants=variants[row.id],
            picture=first_pictures.get(row.id),
            placed_in=placed[row.id],
            collections=collected[row.id],
            sold=sold.get(row.id, 0),
        )


def _group(query: Query) -> Mapping[int, list[int]]:
    """Return the values of a query's pairs by their first."""
    found: dict[int, list[int]] = defaultdict(list)
    for product_id, value in db.session.execute(query):
        found[product_id].append(value)
    return found
