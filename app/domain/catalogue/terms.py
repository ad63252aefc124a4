"""Use cases of search terms, apart from the rest of a product. Call them within a transaction."""

from __future__ import annotations

from collections.abc import Sequence

from app.domain.catalogue.models import Product
from app.domain.catalogue.product_changes import note_changes, snapshot
from app.domain.catalogue.products import product_of
from app.domain.catalogue.search_terms import clean_terms, with_added
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Conflict


def replace_terms(
    clock: Clock,
    site_id: int,
    product_id: int,
    terms: Sequence[object],
    actor: str,
    read: Sequence[str] | None = None,
) -> list[str]:
    """The product's terms afterwards; an empty sequence removes all. `read` are the terms that whoever changes them
    saw. Raises NotFound, Invalid, and Conflict where somebody else has changed them since."""
    product = product_of(site_id, product_id, to_change=True)
    wanted = clean_terms(terms)
    if read is not None and list(read) != product.search_terms and wanted != product.search_terms:
        raise Conflict("Somebody else changed these terms while you did. What is stored now stands beside yours.")
    return _set(clock, product, wanted, actor)


def add_terms(clock: Clock, site_id: int, product_id: int, terms: Sequence[object], actor: str) -> list[str]:
    """The product's terms afterwards; those that it has already are skipped. Raises NotFound, Invalid."""
    product = product_of(site_id, product_id, to_change=True)
    return _set(clock, product, with_added(product.search_terms, terms), actor)


def _set(clock: Clock, product: Product, terms: list[str], actor: str) -> list[str]:
    before = snapshot(product)
    if terms != product.search_terms:
        product.search_terms = terms
    note_changes(clock, product, before, actor)
    return terms
