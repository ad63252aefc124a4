"""Changes by a row of the bundle to the shop's record: pure comparison."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any

from app.domain.bundles.products.pictures import Picture
from app.domain.bundles.products.rows import ImportedProduct
from app.domain.bundles.products.stored import StoredProduct
from app.domain.catalogue.product_rules import ProductDraft, VariantDraft
from app.domain.taxonomy.products.classification import Classification, counted_values

DRAFT_DEFAULTS = {known.name: known.default for known in fields(ProductDraft) if known.name != "variants"}


@dataclass(slots=True)
class CheckedRow:
    """A row of the bundle with its classification and its stored pictures; None leaves the product's own as they
    are."""

    row: ImportedProduct
    classification: Classification | None = None
    images: list[Picture] | None = None


@dataclass(slots=True)
class Change:
    """The changes of one product. `product_id` None adds a product. None in `values`, `variants` and `images` leaves
    them; `values` are the (attribute id, text) pairs of the counted index. `variant_ids` are the records that variants
    have, by SKU."""

    columns: dict[str, Any]
    product_id: int | None = None
    values: set[tuple[str, str]] | None = None
    variants: list[VariantDraft] | None = None
    variant_ids: Mapping[str, int] = field(default_factory=dict)
    images: list[Picture] | None = None

    @property
    def is_empty(self) -> bool:
        return not self.columns and self.values is None and self.variants is None and self.images is None


def addition(candidate: CheckedRow, site_id: int, seo_name: str, now: datetime) -> Change:
    """Return the change that adds a product. `columns` is a whole record."""
    classified = candidate.classification or Classification()
    columns = {
        **DRAFT_DEFAULTS,
        "search_terms": [],
        "created_at": now,
        **candidate.row.columns,
        **_classified_columns(classified),
        "seo_name": seo_name,
        "site_id": site_id,
        "revision": 1,
        "updated_at": now,
        "archived_taxonomy_data": None,
    }
    return Change(
        columns, None, counted_values(classified.values), candidate.row.variants or [], {}, candidate.images or []
    )


def difference(candidate: CheckedRow, stored: StoredProduct) -> Change:
    """Return the differences of a row from the stored product. The writer sets `revision` and the time of the
    change."""
    wanted = {name: value for name, value in candidate.row.columns.items() if name not in candidate.row.filled}
    if candidate.classification is not None:
        wanted.update(_classified_columns(candidate.classification))
    change = Change({name: value for name, value in wanted.items() if stored.columns[name] != value}, stored.id)
    if "taxonomy_attributes" in change.columns:
        change.values = counted_values(change.columns["taxonomy_attributes"])
    variants = with_stored(candidate.row, stored)
    if _has_unnamed(candidate.row, stored) and candidate.row.priced_by_variant:
        change.columns.pop("price", None)
    if variants is not None and variants != stored.variants:
        change.variants, change.variant_ids = variants, stored.variant_ids
    if candidate.images is not None:
        pictures = _described(candidate.images, dict(stored.images))
        if [(picture.image.file, picture.alt) for picture in pictures] != stored.images:
            change.images = pictures
    return change


def with_stored(row: ImportedProduct, stored: StoredProduct) -> list[VariantDraft] | None:
    """Return the row's variants, with the stored fields where the row leaves fields out. Of a row that keeps variants
    the stored ones stay in their order, and new ones follow."""
    if not row.variants:
        return row.variants
    known = {variant.sku: variant for variant in stored.variants}
    named = {variant.sku: _with_kept(_with_own_price(variant, row, stored), row, known) for variant in row.variants}
    if not row.keeps_variants:
        return list(named.values())
    return list((known | named).values())


def _with_kept(variant: VariantDraft, row: ImportedProduct, known: Mapping[str, VariantDraft]) -> VariantDraft:
    if variant.sku not in known:
        return variant
    return replace(variant, **{name: getattr(known[variant.sku], name) for name in row.kept})


def _with_own_price(variant: VariantDraft, row: ImportedProduct, stored: StoredProduct) -> VariantDraft:
    """Return the variant with a price of its own where the row names only some of the stored variants and the product's
    price is that of the first: the product keeps its price, so that the price of the others does not change."""
    if not row.priced_by_variant or not _has_unnamed(row, stored):
        return variant
    price = row.columns["price"] if variant.price is None else variant.price
    return replace(variant, price=None if price == stored.columns["price"] else price)


def _has_unnamed(row: ImportedProduct, stored: StoredProduct) -> bool:
    named = {variant.sku for variant in row.variants or ()}
    return any(variant.sku not in named for variant in stored.variants)


def _described(pictures: list[Picture], known: Mapping[str, str]) -> list[Picture]:
    """Return the pictures with their descriptions. One that the bundle does not describe keeps the stored
    description."""
    return [
        picture if picture.alt is not None else replace(picture, alt=known.get(picture.image.file, ""))
        for picture in pictures
    ]


def _classified_columns(classified: Classification) -> dict[str, Any]:
    return {
        "taxonomy_level_id": classified.level_id,
        "taxonomy_attributes": classified.values,
        "completeness_score": classified.score,
    }
