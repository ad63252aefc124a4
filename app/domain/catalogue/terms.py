"""Changes of a product's search terms alone. Call them within a transaction."""

from __future__ import annotations

from collections.abc import Sequence

from app.domain.catalogue.models import Product
from app.domain.catalogue.product_changes import note_changes, snapshot
from app.domain.catalogue.products import product_of
from app.domain.catalogue.search_terms import clean_terms, with_added
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict


def replace_terms(
    author: Author, product_id: int, terms: Sequence[object], read: Sequence[str] | None = None
) -> list[str]:
    """Replace a product's search terms and return the new ones; an empty sequence removes all. `read` are the terms
    that the author saw. Raises NotFound, Invalid, and Conflict where they have been changed since."""
    product = product_of(author.site_id, product_id, to_change=True)
    wanted = clean_terms(terms)
    if read is not None and list(read) != product.search_terms and wanted != product.search_terms:
        raise Conflict("Another user changed these terms while you did. What is stored now stands beside yours.")
    return _set(author, product, wanted)


def add_terms(author: Author, product_id: int, terms: Sequence[object]) -> list[str]:
    """Add search terms to a product and return all that it has then; those that it has already are skipped. Raises
    NotFound, Invalid."""
    product = product_of(author.site_id, product_id, to_change=True)
    return _set(author, product, with_added(product.search_terms, terms))


def _set(author: Author, product: Product, terms: list[str]) -> list[str]:
    before = snapshot(product)
    if terms != product.search_terms:
        product.search_terms = terms
    note_changes(author, product, before)
    return terms
