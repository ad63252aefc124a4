"""The real changes of a product by a save: its revision and its line in the activity log follow from them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from app.domain.catalogue.models import Product
from app.domain.catalogue.rules import ProductDraft
from app.domain.catalogue.search_terms import describe_change
from app.domain.shared.author import Author
from app.domain.sites import audit

TERMS = "search_terms"
FIELDS = tuple(field.name for field in fields(ProductDraft) if field.name != "variants")


def snapshot(product: Product) -> dict[str, Any]:
    plain: dict[str, Any] = {name: getattr(product, name) for name in FIELDS}
    variants = [[v.sku, v.upc, v.price, v.stock, v.options, v.picture] for v in product.variants]
    classified = {"taxonomy_level_id": product.taxonomy_level_id, "taxonomy_attributes": product.taxonomy_attributes}
    return plain | {"variants": variants, TERMS: list(product.search_terms)} | classified


def note_changes(author: Author, product: Product, before: dict[str, Any]) -> tuple[str, ...]:
    """Raise the revision, log what changed since the snapshot `before` and return the names of the changed fields;
    nothing happens when nothing changed."""
    after = snapshot(product)
    changed = tuple(name for name in after if after[name] != before[name])
    if changed:
        product.revision += 1
        product.updated_at = author.now()
        audit.record(
            author,
            "product.save",
            ("product", str(product.id)),
            _summary(product.name, before, after, changed),
            before={name: _unlike(before[name], after[name]) for name in changed},
            after={name: _unlike(after[name], before[name]) for name in changed},
        )
    return changed


def _summary(name: str, before: dict[str, Any], after: dict[str, Any], changed: tuple[str, ...]) -> str:
    if changed == (TERMS,):
        return describe_change(name, before[TERMS], after[TERMS])
    return f"Changed {name}"


def _unlike(value: Any, other: Any) -> Any:
    """Return a value, of attribute values only those that differ."""
    if not isinstance(value, dict) or not isinstance(other, dict):
        return value
    return {name: item for name, item in value.items() if name not in other or other[name] != item}
