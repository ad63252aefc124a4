"""Products by their search terms, for the page of search terms and its JSON."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, func, literal, or_, select

from app.domain.catalogue.models import Product
from app.domain.catalogue.queries import LOOKUP_SIZE, contains, contains_words, looked_up
from app.domain.shared.columns import JsonValue
from app.domain.shared.elements import elements, value_of
from app.domain.shared.paging import Paged
from app.domain.shared.problems import NotFound
from app.extensions import db

PAGE_SIZE = 25


@dataclass(frozen=True, slots=True)
class TermRow:
    """A product with its search terms in their order."""

    id: int
    sku: str
    name: str
    seo_name: str
    enabled: bool
    terms: list[str]


_COLUMNS = (Product.id, Product.sku, Product.name, Product.seo_name, Product.enabled, Product.search_terms)


def products_with_terms(site_id: int, words: str, page_number: int, page_size: int = PAGE_SIZE) -> Paged[TermRow]:
    """Return products with terms, latest change first, whose name, SKU, SEO name or a term contains the words."""
    found = select(Product.id).where(Product.site_id == site_id, Product.search_terms != literal([], JsonValue))
    if words.strip():
        terms = elements(Product.search_terms)
        has_term = select(literal(1)).select_from(terms).where(contains(value_of(terms), words.strip())).exists()
        found = found.where(or_(contains_words(words), has_term))
    total = db.session.scalar(found.with_only_columns(func.count())) or 0
    order = (Product.updated_at.desc(), Product.id.desc())
    shown = found.order_by(*order).limit(page_size).offset((page_number - 1) * page_size)
    return Paged(_rows(select(*_COLUMNS).where(Product.id.in_(shown)).order_by(*order)), page_number, page_size, total)


def find_with_terms(site_id: int, words: str, limit: int = LOOKUP_SIZE) -> list[TermRow]:
    """Return the products that `looked_up` finds, with or without terms."""
    return _term_rows(looked_up(select(*_COLUMNS).where(Product.site_id == site_id), words, limit))


def product_with_terms(site_id: int, product_id: int) -> TermRow:
    """Return a product with its search terms. Raises NotFound."""
    rows = _rows(select(*_COLUMNS).where(Product.site_id == site_id, Product.id == product_id))
    if not rows:
        raise NotFound("There is no such product on this site.")
    return rows[0]


def _rows(query: Select[*tuple[Any, ...]]) -> list[TermRow]:
    return _term_rows(db.session.execute(query))


def _term_rows(rows: Iterable[Any]) -> list[TermRow]:
    return [TermRow(row.id, row.sku, row.name, row.seo_name, row.enabled, list(row.search_terms)) for row in rows]
