"""The document of a product, a page or a collection in the index: a pure function of the facts about it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from app.domain.catalogue.markup import plain_text
from app.domain.catalogue.product_rules import is_in_stock, is_on_sale
from app.domain.merchandising.facets import is_colour
from app.domain.merchandising.tree import ShopTree
from app.domain.search.engine import IndexDocument
from app.domain.search.ranking.analysis import ANALYSIS
from app.domain.search.ranking.scoring import CREATED, FEW_LEFT, LOW_STOCK, SALES
from app.domain.taxonomy.tree import Attribute, AttributeType, TaxonomyTree
from app.domain.taxonomy.values import Value, value_texts

LONGEST_FACET_VALUE = 200
LONGEST_SUMMARY = 200
YES = ("true",)
CONTENT_PATHS = {"page": "/pages", "collection": "/collections"}


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
    picture: DocumentPicture | None = None
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


def product_document_id(product_id: int) -> str:
    return f"p{product_id}"


def content_document_id(kind: str, record_id: int) -> str:
    return f"{kind}:{record_id}"


def product_document(facts: ProductFacts, taxonomy: TaxonomyTree, tree: ShopTree) -> IndexDocument:
    path = taxonomy.path(facts.level_id) if facts.level_id else []
    attributes = taxonomy.applicable_attributes(facts.level_id) if facts.level_id else {}
    held = {id: (attributes[id], value) for id, value in facts.attribute_values.items() if id in attributes}
    texts = {id: value_texts(value) for id, (attribute, value) in held.items() if _is_searched_as_text(attribute)}
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
        id=content_document_id(facts.kind, facts.id),
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
            "summary": _shortened(text),
        },
    )
    return _with_digest(document)


Held = Mapping[str, tuple[Attribute, Value]]


def _is_searched_as_text(attribute: Attribute) -> bool:
    return attribute.type is AttributeType.STRING or attribute.type.is_choice


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
    picture = facts.picture
    return {
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
        "colour": _colour(texts),
        "featured": facts.featured,
    }


def _colour(texts: Mapping[str, Sequence[str]]) -> str | None:
    for attribute_id in sorted(texts):
        if is_colour(attribute_id) and texts[attribute_id]:
            return texts[attribute_id][0]
    return None


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_SUMMARY else text[:LONGEST_SUMMARY].rsplit(" ", 1)[0] + " …"


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
