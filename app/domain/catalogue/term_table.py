"""Search terms as a table: a product a line, with all of its terms between commas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import literal, select

from app.domain.catalogue.models import Product
from app.domain.catalogue.search_terms import clean_terms, split_terms
from app.domain.catalogue.terms import replace_terms
from app.domain.shared.author import Author
from app.domain.shared.columns import JsonValue
from app.domain.shared.problems import Conflict, Invalid
from app.domain.shared.table_import import ImportLine, ImportReport, RowOutcome, check_cells, read_named, refused
from app.domain.shared.text import one_line
from app.extensions import db

MOST_LINES = 5_000
AT_ONCE = 500  # SKUs of one query.
COLUMNS = {"sku": "sku", "name": "name", "terms": "terms", "search terms": "terms"}
CHANGED = "Search terms changed since you looked. Look at what the file does now, then import it."


@dataclass(frozen=True, slots=True)
class ProductTerms:
    """A product's search terms. `id` is the product's."""

    id: int
    sku: str
    terms: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.sku}: {', '.join(self.terms) or 'none'}"


Line = ImportLine[ProductTerms]


def rows(site_id: int) -> Iterator[tuple[str, str, str]]:
    """Yield the table of all products with search terms, by SKU."""
    yield "sku", "name", "terms"
    has_terms = Product.search_terms != literal([], JsonValue)
    query = select(Product.sku, Product.name, Product.search_terms).where(Product.site_id == site_id, has_terms)
    for sku, name, terms in db.session.execute(query.order_by(Product.sku)):
        yield sku, name, ", ".join(terms)


def planned(
    stored: Mapping[str, ProductTerms], lines: Iterable[tuple[int, Mapping[str, str]]]
) -> ImportReport[ProductTerms]:
    """Return the report of what each line does to the product that it names by SKU: its terms replace all that the
    product has; an empty list removes them."""
    seen: dict[str, int] = {}
    return ImportReport([_planned(stored, number, cells, seen) for number, cells in lines])


def _planned(stored: Mapping[str, ProductTerms], number: int, cells: Mapping[str, str], seen: dict[str, int]) -> Line:
    sku, text = one_line(cells.get("sku", "")), ", ".join(map(one_line, cells.values()))
    try:
        known = _named(stored, sku, seen)
        terms = tuple(clean_terms(split_terms(_terms_cell(cells))))
    except Invalid as invalid:
        return refused(number, text, invalid)
    seen[sku] = number
    made = ProductTerms(known.id, sku, terms)
    if terms == known.terms:
        return ImportLine(number, text, RowOutcome.SAME, made)
    if not known.terms:
        return ImportLine(number, text, RowOutcome.ADDED, made)
    return ImportLine(number, text, RowOutcome.CHANGED, made, known)


def _terms_cell(cells: Mapping[str, str]) -> str:
    check_cells(cells)
    if "terms" not in cells:
        raise Invalid.one(
            "required", "The line ends before its terms. To remove them, write the comma and nothing after it."
        )
    return cells["terms"]


def _named(stored: Mapping[str, ProductTerms], sku: str, seen: Mapping[str, int]) -> ProductTerms:
    if not sku:
        raise Invalid.one("required", "The SKU is missing.")
    if sku in seen:
        raise Invalid.one("duplicate_sku", f"Line {seen[sku]} is about the same product.")
    if sku not in stored:
        raise Invalid.one("unknown_sku", f"The shop has no product with the SKU “{sku[:64]}”.")
    return stored[sku]


def preview(site_id: int, text: str) -> ImportReport[ProductTerms]:
    """Preview an import; nothing is written. Raises Invalid."""
    lines = read_named(text, COLUMNS, ("sku", "terms"), "products", MOST_LINES)
    return planned(_stored(site_id, [one_line(cells.get("sku", "")) for _, cells in lines]), lines)


def apply(author: Author, text: str, digest: str) -> ImportReport[ProductTerms]:
    """Apply the changes that the preview with this digest showed; refused lines are left out. Raises Invalid, and
    Conflict where the terms have changed since."""
    report = preview(author.site_id, text)
    if report.digest != digest:
        raise Conflict(CHANGED)
    for line in report.lines:
        if line.made is not None and line.outcome in (RowOutcome.ADDED, RowOutcome.CHANGED):
            read = line.replaces.terms if line.replaces else ()
            replace_terms(author, line.made.id, line.made.terms, read)
    return report


def _stored(site_id: int, skus: Sequence[str]) -> dict[str, ProductTerms]:
    found: dict[str, ProductTerms] = {}
    for start in range(0, len(skus), AT_ONCE):
        query = select(Product.id, Product.sku, Product.search_terms)
        named = query.where(Product.site_id == site_id, Product.sku.in_(skus[start : start + AT_ONCE]))
        found |= {sku: ProductTerms(id, sku, tuple(terms)) for id, sku, terms in db.session.execute(named)}
    return found
