"""The documents of a site's indexes: what the document of a product, a page or a collection holds, how documents are
read from the tables, a thousand records at a time and in a handful of statements each, and the changes that bring an
index up to date with records."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Collection as Several
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, select

from app.domain.catalogue.markup import plain_text
from app.domain.catalogue.models import Collection, CollectionEntry, Page, Product, ProductImage, Variant
from app.domain.catalogue.product_rules import is_in_stock, is_on_sale
from app.domain.merchandising.facets import is_colour
from app.domain.merchandising.models import Placement
from app.domain.merchandising.shop import load_tree
from app.domain.merchandising.tree import ShopTree
from app.domain.orders.models import ProductSales
from app.domain.search.document_ids import COLLECTION, PAGE, PRODUCT, Record, document_id, product_document_id
from app.domain.search.engine import Change, Delete, IndexDocument, IndexName, Upsert
from app.domain.search.ranking.analysis import ANALYSIS
from app.domain.search.ranking.scoring import CREATED, FEW_LEFT, LOW_STOCK, SALES
from app.domain.sites.settings import settings_of
from app.domain.taxonomy.taxonomies import active_tree
from app.domain.taxonomy.tree import Attribute, AttributeType, TaxonomyTree
from app.domain.taxonomy.values import Value, value_texts
from app.extensions import db

LONGEST_FACET_VALUE = 200
LONGEST_SUMMARY = 200
YES = ("true",)
CONTENT_PATHS = {PAGE: "/pages", COLLECTION: "/collections"}
BATCH = 1000
SHOWN_ON_CARDS = 2  # Pictures: the first, and the one that takes its place under a mouse.

Query = Select[*tuple[Any, ...]]
Held = Mapping[str, tuple[Attribute, Value]]
Refuse = Callable[[str, int, Exception], None]  # Gets the kind, the id and the error of a record without document.


@dataclass(frozen=True, slots=True)
class DocumentPicture:
    file: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class VariantFacts:
    sku: str
    upc: str | None
    stock: int | None


@dataclass(frozen=True, slots=True)
class ProductFacts:
    """An enabled product with what hangs on it. Money is in minor units, `stock` None is not counted, `sold` is units
    sold in the last 90 days."""

    id: int
    sku: str
    name: str
    seo_name: str
    manufacturer: str
    description: str
    price: int
    compare_at_price: int | None
    upc: str | None
    stock: int | None
    featured: bool
    rating: float | None
    search_terms: Sequence[str]
    created_at: datetime
    level_id: str | None
    attribute_values: Mapping[str, Value]
    variants: Sequence[VariantFacts] = ()
    pictures: Sequence[DocumentPicture] = ()
    placed_in: Sequence[int] = ()
    collections: Sequence[int] = ()
    sold: int = 0

    @property
    def in_stock(self) -> bool:
        return is_in_stock(self.stock, (variant.stock for variant in self.variants))

    @property
    def units_left(self) -> int | None:
        """What is left of the product, or of its variants together; None where some of it is not counted."""
        stocks = [variant.stock for variant in self.variants] or [self.stock]
        counted = [stock for stock in stocks if stock is not None]
        return sum(counted) if len(counted) == len(stocks) else None

    @property
    def on_sale(self) -> bool:
        return is_on_sale(self.price, self.compare_at_price)


@dataclass(frozen=True, slots=True)
class ContentFacts:
    """An enabled page or collection; `markup` is HTML."""

    kind: str
    id: int
    name: str
    seo_name: str
    markup: str


def product_document(facts: ProductFacts, taxonomy: TaxonomyTree, tree: ShopTree) -> IndexDocument:
    path = taxonomy.path(facts.level_id) if facts.level_id else []
    attributes = taxonomy.applicable_attributes(facts.level_id) if facts.level_id else {}
    held = {id: (attributes[id], value) for id, value in facts.attribute_values.items() if id in attributes}
    texts = {
        id: value_texts(value)
        for id, (attribute, value) in held.items()
        if attribute.type is AttributeType.STRING or attribute.type.is_choice
    }
    level_ids = [level.id for level in path]
    kind = path[-1].name if path else ""
    codes = (facts.sku, facts.upc, *(code for variant in facts.variants for code in (variant.sku, variant.upc)))
    document = IndexDocument(
        id=product_document_id(facts.id),
        name=facts.name,
        terms=tuple(facts.search_terms),
        manufacturer=facts.manufacturer,
        kind=kind,
        kind_names=tuple(dict.fromkeys(name for level in reversed(path) for name in level.names)),
        description=plain_text(facts.description),
        attributes=" ".join(dict.fromkeys(text for values in texts.values() for text in values)),
        codes=tuple(dict.fromkeys(code for code in codes if code)),
        values=_attribute_values(held) | _built_in_values(facts, level_ids, tree),
        numbers=_numbers(facts, held),
        card=_card(facts, kind, texts),
    )
    return _with_digest(document)


def content_document(facts: ContentFacts) -> IndexDocument:
    text = plain_text(facts.markup)
    document = IndexDocument(
        id=document_id(facts.kind, facts.id),
        name=facts.name,
        kind=facts.kind,
        description=text,
        values={"type": (facts.kind,)},
        card={
            "id": facts.id,
            "type": facts.kind,
            "name": facts.name,
            "seoName": facts.seo_name,
            "path": f"{CONTENT_PATHS[facts.kind]}/{facts.seo_name}",
            "summary": text if len(text) <= LONGEST_SUMMARY else f"{text[:LONGEST_SUMMARY].rsplit(' ', 1)[0]} …",
        },
    )
    return _with_digest(document)


def _attribute_values(held: Held) -> dict[str, tuple[str, ...]]:
    """Return the values that facets count, by attribute id. A text too long for a filter is left out; numbers are
    ranges instead."""
    found = {}
    for attribute_id, (attribute, value) in held.items():
        if attribute.type is not AttributeType.NUMBER:
            short = tuple(text for text in value_texts(value) if 0 < len(text) <= LONGEST_FACET_VALUE)
            if short:
                found[attribute_id] = short
    return found


def _built_in_values(facts: ProductFacts, level_ids: Sequence[str], tree: ShopTree) -> dict[str, tuple[str, ...]]:
    categories = tree.categories_of(level_ids, facts.manufacturer, facts.placed_in)
    values = {
        "manufacturer": (facts.manufacturer,) if facts.manufacturer else (),
        "category": tuple(str(node_id) for node_id in sorted(categories)),
        "level": tuple(level_ids),
        "collection": tuple(str(id) for id in sorted(facts.collections)),
        "sku": (facts.sku,),
        "inStock": YES if facts.in_stock else (),
        "onSale": YES if facts.on_sale else (),
        "featured": YES if facts.featured else (),
    }
    return {name: value for name, value in values.items() if value}


def _numbers(facts: ProductFacts, held: Held) -> dict[str, float]:
    numbers = {
        id: float(value)
        for id, (attribute, value) in held.items()
        if attribute.type is AttributeType.NUMBER and isinstance(value, int | float)
    }
    if facts.rating is not None:
        numbers["rating"] = facts.rating
    if facts.sold:
        numbers[SALES] = float(facts.sold)
    if (left := facts.units_left) is not None and 0 < left <= FEW_LEFT:
        numbers[LOW_STOCK] = float(left)
    return numbers | {"price": float(facts.price), CREATED: facts.created_at.timestamp()}


def _card(facts: ProductFacts, kind: str, texts: Mapping[str, Sequence[str]]) -> dict[str, object]:
    """Return what a list shows of a product, so that it needs no database."""
    picture = facts.pictures[0] if facts.pictures else None
    card: dict[str, object] = {
        "id": facts.id,
        "sku": facts.sku,
        "name": facts.name,
        "seoName": facts.seo_name,
        "manufacturer": facts.manufacturer,
        "price": facts.price,
        "compareAtPrice": facts.compare_at_price,
        "inStock": facts.in_stock,
        "stock": facts.stock,
        "rating": facts.rating,
        "image": picture.file if picture else None,
        "imageWidth": picture.width if picture else None,
        "imageHeight": picture.height if picture else None,
        "kind": kind,
        "colour": next((texts[id][0] for id in sorted(texts) if is_colour(id) and texts[id]), None),
        "featured": facts.featured,
    }
    if len(facts.pictures) > 1:  # Only then, so that the documents of other products stay as they are.
        card["secondImage"] = facts.pictures[1].file
    return card


def _with_digest(document: IndexDocument) -> IndexDocument:
    content = [
        ANALYSIS,
        document.id,
        document.name,
        document.terms,
        document.manufacturer,
        document.kind,
        document.kind_names,
        document.description,
        document.attributes,
        document.codes,
        document.values,
        document.numbers,
        document.card,
    ]
    written = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return replace(document, digest=hashlib.blake2b(written.encode(), digest_size=16).hexdigest())


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


def raise_refused(_kind: str, _record_id: int, error: Exception) -> None:
    """Raise the error of a record without a document: the default for callers that read sound records alone."""
    raise error


def changes_of(
    site_id: int, index: IndexName, records: Several[Record], refuse: Refuse = raise_refused
) -> list[Change]:
    """Return a change for each record as it is now: one that is gone or not enabled is deleted from the index. A record
    of which no document can be made is passed to `refuse` and left out."""
    refused: set[Record] = set()

    def note(kind: str, record_id: int, error: Exception) -> None:
        refused.add((kind, record_id))
        refuse(kind, record_id, error)

    documents = {document.id: document for document in documents_of(site_id, index, records, note)}
    wanted = [document_id(*record) for record in sorted(records) if record not in refused]
    return [Upsert(documents[id]) if id in documents else Delete(id) for id in wanted]


def documents_of(
    site_id: int, index: IndexName, records: Several[Record] | None = None, refuse: Refuse = raise_refused
) -> Iterator[IndexDocument]:
    """Yield all documents of an index, or those of `records`."""
    if index is IndexName.PRODUCTS:
        return product_documents(site_id, None if records is None else {record_id for _, record_id in records}, refuse)
    return content_documents(site_id, records, refuse)


def product_documents(
    site_id: int, product_ids: Several[int] | None = None, refuse: Refuse = raise_refused
) -> Iterator[IndexDocument]:
    """Yield the documents of the enabled products of a site, all or those named, in batches, so that memory stays
    flat. The caller may end the transaction between two documents: no result is being fetched then."""
    taxonomy, tree = active_tree(site_id), load_tree(site_id)
    enabled = select(*_PRODUCT_COLUMNS).where(Product.site_id == site_id, Product.enabled)
    for rows in _batches(enabled, Product.id, product_ids):
        ids = [row.id for row in rows]
        variants = select(Variant.product_id, Variant.sku, Variant.upc, Variant.stock)
        variants_of = _rows_by_product(variants.order_by(Variant.position, Variant.id), ids)
        images = select(ProductImage.product_id, ProductImage.file, ProductImage.width, ProductImage.height)
        images_of = _rows_by_product(images.order_by(ProductImage.position, ProductImage.id), ids)
        nodes_of = _rows_by_product(select(Placement.product_id, Placement.node_id), ids)
        collections_of = _rows_by_product(select(CollectionEntry.product_id, CollectionEntry.collection_id), ids)
        sales_of = _rows_by_product(select(ProductSales.product_id, ProductSales.units), ids)

        for row in rows:
            try:
                facts = ProductFacts(
                    **row._mapping,
                    variants=[VariantFacts(*variant) for variant in variants_of[row.id]],
                    pictures=[DocumentPicture(*image) for image in images_of[row.id][:SHOWN_ON_CARDS]],
                    placed_in=[node_id for (node_id,) in nodes_of[row.id]],
                    collections=[collection_id for (collection_id,) in collections_of[row.id]],
                    sold=sum(units for (units,) in sales_of[row.id]),
                )
                document = product_document(facts, taxonomy, tree)
            except Exception as error:  # Stored values that no rule accepts must not keep other records out.
                refuse(PRODUCT, row.id, error)
            else:
                yield document


def content_documents(
    site_id: int, records: Several[Record] | None = None, refuse: Refuse = raise_refused
) -> Iterator[IndexDocument]:
    """Yield the documents of the enabled pages and collections of a site, all or the (kind, id) named."""
    pages = select(Page.id, Page.title, Page.seo_name, Page.body)
    collections = select(Collection.id, Collection.name, Collection.seo_name, Collection.description)
    for kind, model, query in ((PAGE, Page, pages), (COLLECTION, Collection, collections)):
        wanted = None if records is None else {record_id for named, record_id in records if named == kind}
        for rows in _batches(query.where(model.site_id == site_id, model.enabled), model.id, wanted):
            for row in rows:
                try:
                    document = content_document(ContentFacts(kind, *row))
                except Exception as error:  # As with products.
                    refuse(kind, row.id, error)
                else:
                    yield document


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


def _rows_by_product(query: Query, product_ids: Sequence[int]) -> Mapping[int, list[Sequence[Any]]]:
    """Return the rows of a query for some products, each without its first value, which is the id of its product."""
    rows_of: dict[int, list[Sequence[Any]]] = defaultdict(list)
    product_id = query.selected_columns[0]
    for first, *others in db.session.execute(query.where(product_id.in_(product_ids))):
        rows_of[first].append(others)
    return rows_of


def count_of(site_id: int, index: IndexName) -> int:
    """Return how many documents a rebuild of the index will write, as things stand."""
    models: tuple[Any, ...] = (Product,) if index is IndexName.PRODUCTS else (Page, Collection)
    counts = (
        db.session.scalar(select(func.count()).select_from(model).where(model.site_id == site_id, model.enabled))
        for model in models
    )
    return sum(count or 0 for count in counts)


def content_search_is_on(site_id: int) -> bool:
    """Whether the site's search finds pages and collections, too."""
    return bool(settings_of(site_id)["search-content-enabled"])


def is_wanted(site_id: int, index: IndexName) -> bool:
    """Whether a site uses an index: that of content only where its search finds content."""
    return index is not IndexName.CONTENT or content_search_is_on(site_id)


def ranks_by_meaning(site_id: int) -> bool:
    """Whether a site's settings let the meaning of words count in its searches."""
    return bool(settings_of(site_id)["search-by-meaning"])
