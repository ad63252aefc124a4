"""The search terms of products: changes, the list of products by their terms, and import and export as a table with a
product a line. The functions that change terms are called within a transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, func, literal, or_, select

from app.domain.catalogue.models import HAS_TERMS, Product
from app.domain.catalogue.product_rules import add_to_terms, clean_terms, split_terms
from app.domain.catalogue.products import note_changes, product_of, snapshot
from app.domain.catalogue.queries import LOOKUP_SIZE, contains_words, look_up
from app.domain.catalogue.revisions import check_revision
from app.domain.shared.author import Author
from app.domain.shared.csv_tables import ImportLine, ImportReport, RowOutcome, check_cells, read_named, refused
from app.domain.shared.paging import Paged, batched
from app.domain.shared.problems import Conflict, Invalid, NotFound
from app.domain.shared.records import contains, elements, value_of
from app.domain.shared.text import one_line
from app.extensions import db

TERMS_PAGE_SIZE = 25
MOST_LINES = 5_000  # Of an import.
AT_ONCE = 500  # SKUs of one query.
COLUMNS = {"sku": "sku", "name": "name", "terms": "terms", "search terms": "terms"}
CHANGED = "Search terms changed since you looked. Look at what the file does now, then import it."
_ROW_COLUMNS = (
    Product.id,
    Product.sku,
    Product.name,
    Product.seo_name,
    Product.enabled,
    Product.search_terms,
    Product.revision,
)


def replace_terms(
    author: Author,
    product_id: int,
    terms: Sequence[object],
    read: Sequence[str] | None = None,
    revision: int | None = None,
) -> list[str]:
    """Replace a product's search terms and return the new ones; an empty sequence removes all. `read` are the terms
    that the author saw, `revision` the product's, where they are known. Raises NotFound, Invalid, StaleRevision, and
    Conflict where the terms have been changed since."""
    product = _product_to_change(author, product_id, revision)
    wanted = clean_terms(terms)
    if read is not None and list(read) != product.search_terms and wanted != product.search_terms:
        raise Conflict("Another user changed these terms while you did. What is stored now stands beside yours.")
    return _store_terms(author, product, wanted)


def add_terms(author: Author, product_id: int, terms: Sequence[object], revision: int | None = None) -> list[str]:
    """Add search terms to a product and return all that it has then; those that it has already are skipped. Raises
    NotFound, Invalid, and StaleRevision where the product is not at `revision`, if one is given."""
    product = _product_to_change(author, product_id, revision)
    return _store_terms(author, product, add_to_terms(product.search_terms, terms))


def _product_to_change(author: Author, product_id: int, revision: int | None) -> Product:
    product = product_of(author.site_id, product_id, to_change=True)
    if revision is not None:
        check_revision(author.site_id, ("product", product.id), product.revision, revision)
    return product


def _store_terms(author: Author, product: Product, terms: list[str]) -> list[str]:
    before = snapshot(product)
    if terms != product.search_terms:
        product.search_terms = terms
    note_changes(author, product, before)
    return terms


@dataclass(frozen=True, slots=True)
class TermRow:
    """A product with its search terms in their order. `revision` is the product's."""

    id: int
    sku: str
    name: str
    seo_name: str
    enabled: bool
    terms: list[str]
    revision: int


def products_with_terms(site_id: int, words: str, page_number: int, page_size: int = TERMS_PAGE_SIZE) -> Paged[TermRow]:
    """Return products with terms, latest change first, whose name, SKU, SEO name or a term contains the words."""
    found = select(Product.id).where(Product.site_id == site_id, HAS_TERMS)
    if words.strip():
        found = found.where(or_(contains_words(words), _has_term(words)))
    total = db.session.scalar(found.with_only_columns(func.count())) or 0
    order = (Product.updated_at.desc(), Product.id.desc())
    shown = found.order_by(*order).limit(page_size).offset((page_number - 1) * page_size)
    rows = db.session.execute(select(*_ROW_COLUMNS).where(Product.id.in_(shown)).order_by(*order))
    return Paged(_term_rows(rows), page_number, page_size, total)


def find_by_term(site_id: int, words: str, limit: int) -> list[TermRow]:
    """Return products of which a term contains the words, latest change first."""
    found = select(*_ROW_COLUMNS).where(Product.site_id == site_id, HAS_TERMS, _has_term(words))
    return _term_rows(db.session.execute(found.order_by(Product.updated_at.desc(), Product.id.desc()).limit(limit)))


def _has_term(words: str) -> ColumnElement[bool]:
    terms = elements(Product.search_terms)
    return select(literal(1)).select_from(terms).where(contains(value_of(terms), words.strip())).exists()


def find_with_terms(site_id: int, words: str, limit: int = LOOKUP_SIZE) -> list[TermRow]:
    """Return the products that `look_up` finds, with or without terms."""
    return _term_rows(look_up(select(*_ROW_COLUMNS).where(Product.site_id == site_id), words, limit))


def product_with_terms(site_id: int, product_id: int) -> TermRow:
    """Return a product with its search terms. Raises NotFound."""
    query = select(*_ROW_COLUMNS).where(Product.site_id == site_id, Product.id == product_id)
    rows = _term_rows(db.session.execute(query))
    if not rows:
        raise NotFound("There is no such product on this site.")
    return rows[0]


def _term_rows(rows: Iterable[Any]) -> list[TermRow]:
    return [
        TermRow(row.id, row.sku, row.name, row.seo_name, row.enabled, list(row.search_terms), row.revision)
        for row in rows
    ]


@dataclass(frozen=True, slots=True)
class ProductTerms:
    """A product's search terms. `id` is the product's."""

    id: int
    sku: str
    terms: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.sku}: {', '.join(self.terms) or 'none'}"


Line = ImportLine[ProductTerms]


def table_rows(site_id: int) -> Iterator[tuple[str, str, str]]:
    """Yield the table of all products with search terms, by SKU."""
    yield "sku", "name", "terms"
    query = select(Product.sku, Product.name, Product.search_terms).where(Product.site_id == site_id, HAS_TERMS)
    for sku, name, terms in db.session.execute(query.order_by(Product.sku)):
        yield sku, name, ", ".join(terms)


def plan_import(
    stored: Mapping[str, ProductTerms], lines: Iterable[tuple[int, Mapping[str, str]]]
) -> ImportReport[ProductTerms]:
    """Return the report of what each line does to the product that it names by SKU: its terms replace all that the
    product has; an empty list removes them."""
    seen: dict[str, int] = {}
    return ImportReport([_plan_line(stored, number, cells, seen) for number, cells in lines])


def _plan_line(stored: Mapping[str, ProductTerms], number: int, cells: Mapping[str, str], seen: dict[str, int]) -> Line:
    sku, text = one_line(cells.get("sku", "")), ", ".join(map(one_line, cells.values()))
    try:
        product = _product_of_line(stored, sku, seen)
        check_cells(cells)
        if "terms" not in cells:
            raise Invalid.one(
                "required", "The line ends before its terms. To remove them, write the comma and nothing after it."
            )
        terms = tuple(clean_terms(split_terms(cells["terms"])))
    except Invalid as invalid:
        return refused(number, text, invalid)
    seen[sku] = number
    made = ProductTerms(product.id, sku, terms)
    if terms == product.terms:
        return ImportLine(number, text, RowOutcome.SAME, made)
    if not product.terms:
        return ImportLine(number, text, RowOutcome.ADDED, made)
    return ImportLine(number, text, RowOutcome.CHANGED, made, product)


def _product_of_line(stored: Mapping[str, ProductTerms], sku: str, seen: Mapping[str, int]) -> ProductTerms:
    if not sku:
        raise Invalid.one("required", "The SKU is missing.")
    if sku in seen:
        raise Invalid.one("duplicate_sku", f"Line {seen[sku]} is about the same product.")
    if sku not in stored:
        raise Invalid.one("unknown_sku", f"The shop has no product with the SKU “{sku[:64]}”.")
    return stored[sku]


def preview_import(site_id: int, text: str) -> ImportReport[ProductTerms]:
    """Preview an import; nothing is written. Raises Invalid."""
    lines = read_named(text, COLUMNS, ("sku", "terms"), "products", MOST_LINES)
    return plan_import(_stored_terms(site_id, [one_line(cells.get("sku", "")) for _, cells in lines]), lines)


def apply_import(author: Author, text: str, digest: str) -> ImportReport[ProductTerms]:
    """Apply the changes that the preview with this digest showed; refused lines are left out. Raises Invalid, and
    Conflict where the terms have changed since."""
    report = preview_import(author.site_id, text)
    if report.digest != digest:
        raise Conflict(CHANGED)
    for line in report.lines:
        if line.made is not None and line.outcome in (RowOutcome.ADDED, RowOutcome.CHANGED):
            read = line.replaces.terms if line.replaces else ()
            replace_terms(author, line.made.id, line.made.terms, read)
    return report


def _stored_terms(site_id: int, skus: Sequence[str]) -> dict[str, ProductTerms]:
    found: dict[str, ProductTerms] = {}
    for some in batched(skus, AT_ONCE):
        query = select(Product.id, Product.sku, Product.search_terms)
        named = query.where(Product.site_id == site_id, Product.sku.in_(some))
        found |= {sku: ProductTerms(id, sku, tuple(terms)) for id, sku, terms in db.session.execute(named)}
    return found
