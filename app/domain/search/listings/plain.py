"""The first pages of a category read from the database, for while search does not answer: no filters, no words."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Select, and_, func, or_, select

from app.domain.catalogue.models import Product, Variant
from app.domain.merchandising.category_rules import SourceRule
from app.domain.merchandising.membership import any_of, shown_by
from app.domain.merchandising.models import Placement
from app.domain.merchandising.shop import Shop
from app.domain.merchandising.tree import ShopNode
from app.domain.search.engine import Hit, SearchResult, SearchUnavailable, Sort
from app.domain.search.index.document import product_document_id
from app.domain.search.index.documents import product_documents
from app.domain.search.listings.browsing import Listing, page_size_of
from app.domain.search.listings.links import ListingLinks
from app.domain.search.listings.listing import ListingRequest
from app.domain.search.ranking_settings import ranking_of
from app.domain.shared.problems import NotFound
from app.extensions import db

WINDOW = 240  # Products of a category that can be paged through; the rest waits for search.


def plain_category_listing(shop: Shop, node: ShopNode, request: ListingRequest, links: ListingLinks) -> Listing:
    """The same products in the same order as `category_listing`, without filters. Raises NotFound past the last page
    and SearchUnavailable for what only search can do."""
    if request.is_filtered or request.words:
        raise SearchUnavailable("Search does not answer, so nothing can be filtered.")
    size = page_size_of(shop, request)
    shown = select(Product.id).where(Product.site_id == shop.site_id, Product.enabled, _belongs_to(shop, node))
    total = db.session.scalar(select(func.count()).select_from(shown.subquery())) or 0
    first = (request.page - 1) * size
    if first and first >= total:
        raise NotFound("This list does not have so many pages.")
    if first >= WINDOW:
        raise SearchUnavailable("Search does not answer, so only the first pages of a category can be shown.")
    ordered = _ordered(shop, shown, node, request.order)
    hits = _hits(shop.site_id, ordered.offset(first).limit(min(size, WINDOW - first)))
    return Listing(request, SearchResult(total, hits), size, groups=(), chips=(), window=WINDOW, links=links)


def _hits(site_id: int, query: Select[int]) -> tuple[Hit, ...]:
    """Return the hits of a query, with the cards that the index would hold."""
    ids = list(db.session.scalars(query))
    cards = {document.id: document.card for document in product_documents(site_id, ids)}
    names = [product_document_id(product_id) for product_id in ids]
    return tuple(Hit(name, 0.0, cards[name]) for name in names if name in cards)


def _belongs_to(shop: Shop, node: ShopNode) -> ColumnElement[bool]:
    """Return the condition that a category or one below it shows a product."""
    nodes = shop.tree.with_those_below(node.id)
    rules = [SourceRule(below.source_levels, below.source_manufacturers) for below in nodes]
    return any_of(shown_by(shop.site_id, [below.id for below in nodes], rules, shop.taxonomy))


def _ordered(shop: Shop, shown: Select[int], node: ShopNode, sort: Sort) -> Select[int]:
    newest_first = Product.created_at.desc(), Product.id
    match sort:
        case Sort.PRICE_ASC:
            return shown.order_by(Product.price, Product.id)
        case Sort.PRICE_DESC:
            return shown.order_by(Product.price.desc(), Product.id)
        case Sort.NEWEST:
            return shown.order_by(*newest_first)
        case Sort.NAME:
            return shown.order_by(func.lower(Product.name), Product.id)
    by_hand = (Placement.product_id == Product.id) & (Placement.node_id == node.id)
    behind = [_is_sold_out() & Placement.position.is_(None)] if ranking_of(shop.settings).sold_out_last else []
    order = Placement.position.is_(None), Placement.position, *behind, Product.featured.desc(), *newest_first
    return shown.outerjoin(Placement, by_hand).order_by(*order)


def _is_sold_out() -> ColumnElement[bool]:
    """Return the condition that a product is sold out, as `is_in_stock` has it: no variant of it can be sold or, where
    it has none, nothing is left of it."""
    of_product = select(Variant.id).where(Variant.product_id == Product.id)
    sells = of_product.where(or_(Variant.stock.is_(None), Variant.stock > 0)).exists()
    return and_(~sells, or_(of_product.exists(), and_(Product.stock.is_not(None), Product.stock <= 0)))
