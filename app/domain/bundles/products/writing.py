"""The writing of a batch's changes by few statements, with their outbox entries, in the caller's transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Table, bindparam, delete, insert, select, update

from app.domain.bundles.products.changes import Change
from app.domain.catalogue.models import INDEXED_SEPARATELY, Product, ProductAttributeValue, ProductImage, Variant
from app.domain.catalogue.product_rules import VariantDraft
from app.domain.search.index.outbox import PRODUCT, enqueue
from app.domain.search_statistics.counting import before_after
from app.domain.search_statistics.counting.before_after import TermsChange
from app.extensions import db

PRODUCTS: Table = Product.__table__  # type: ignore[assignment]
VALUES: Table = ProductAttributeValue.__table__  # type: ignore[assignment]
VARIANTS: Table = Variant.__table__  # type: ignore[assignment]
IMAGES: Table = ProductImage.__table__  # type: ignore[assignment]


def write(site_id: int, additions: Sequence[Change], changes: Sequence[Change], now: datetime) -> None:
    """Write the changes of a batch and enqueue its products for the index. Changes go first, so that a name which one
    of them gives up is free for an addition."""
    terms_before = _search_terms([change for change in changes if "search_terms" in change.columns])
    for change in changes:
        _update(change, now)
    _insert_products(site_id, additions)
    _note_terms(site_id, [*changes, *additions], terms_before, now)
    everything = [*changes, *additions]
    _replace_values(site_id, [change for change in everything if change.values is not None])
    _replace_variants(site_id, [change for change in everything if change.variants is not None])
    _replace_images(site_id, [change for change in everything if change.images is not None])
    enqueue(db.session, site_id, PRODUCT, [_id_of(change) for change in everything])


def _id_of(change: Change) -> int:
    assert change.product_id is not None
    return change.product_id


def _update(change: Change, now: datetime) -> None:
    statement = (
        update(PRODUCTS)
        .where(PRODUCTS.c.id == change.product_id)
        .values(**change.columns, revision=PRODUCTS.c.revision + 1, updated_at=now)
    )
    _run(statement)


def _insert_products(site_id: int, additions: Sequence[Change]) -> None:
    """Insert the products and set their ids. These are read back by SKU: one statement with thousands of parameters and
    RETURNING is far slower."""
    if additions:
        _run(insert(PRODUCTS), [change.columns for change in additions])
        skus = [change.columns["sku"] for change in additions]
        query = select(PRODUCTS.c.sku, PRODUCTS.c.id).where(PRODUCTS.c.site_id == site_id, PRODUCTS.c.sku.in_(skus))
        ids = dict(db.session.execute(query).all())
        for change in additions:
            change.product_id = ids[change.columns["sku"]]


def _search_terms(changes: Sequence[Change]) -> dict[int, list[str]]:
    ids = [_id_of(change) for change in changes]
    return dict(db.session.execute(select(PRODUCTS.c.id, PRODUCTS.c.search_terms).where(PRODUCTS.c.id.in_(ids))).all())


def _note_terms(site_id: int, changes: Sequence[Change], before: Mapping[int, list[str]], now: datetime) -> None:
    changed = [change for change in changes if "search_terms" in change.columns]
    before_after.record(
        db.session,
        (
            TermsChange(site_id, _id_of(change), before.get(_id_of(change), []), change.columns["search_terms"], now)
            for change in changed
        ),
    )


def _replace_values(site_id: int, changes: Sequence[Change]) -> None:
    _delete_of(VALUES, changes)
    _insert_all(
        VALUES,
        [
            {"product_id": change.product_id, "site_id": site_id, "attribute_id": attribute_id, "value": text}
            for change in changes
            for attribute_id, text in sorted(change.values or ())
        ],
    )


def _replace_variants(site_id: int, changes: Sequence[Change]) -> None:
    """Replace the variants of the products. A variant whose SKU stays keeps its record."""
    gone = [
        variant_id
        for change in changes
        for sku, variant_id in change.variant_ids.items()
        if all(sku != variant.sku for variant in change.variants or ())
    ]
    if gone:
        _run(delete(VARIANTS).where(VARIANTS.c.id.in_(gone)))
    staying: list[dict[str, Any]] = []
    new: list[dict[str, Any]] = []
    for change in changes:
        for position, variant in enumerate(change.variants or ()):
            columns = _variant_columns(variant, position, site_id, _id_of(change))
            known = change.variant_ids.get(variant.sku)
            if known is None:
                new.append(columns)
            else:
                staying.append({**columns, "known_id": known})
    if staying:
        _run(update(VARIANTS).where(VARIANTS.c.id == bindparam("known_id")), staying)
    _insert_all(VARIANTS, new)


def _variant_columns(variant: VariantDraft, position: int, site_id: int, product_id: int) -> dict[str, Any]:
    return {
        "site_id": site_id,
        "product_id": product_id,
        "position": position,
        "sku": variant.sku,
        "upc": variant.upc,
        "price": variant.price,
        "stock": variant.stock,
        "options": dict(variant.options),
        "picture": variant.picture,
    }


def _replace_images(site_id: int, changes: Sequence[Change]) -> None:
    _delete_of(IMAGES, changes)
    _insert_all(
        IMAGES,
        [
            {
                "site_id": site_id,
                "product_id": change.product_id,
                "position": position,
                "file": picture.image.file,
                "alt": picture.alt or "",
                "width": picture.image.width,
                "height": picture.image.height,
            }
            for change in changes
            for position, picture in enumerate(change.images or ())
        ],
    )


def _delete_of(table: Table, changes: Sequence[Change]) -> None:
    if changes:
        _run(delete(table).where(table.c.product_id.in_([change.product_id for change in changes])))


def _insert_all(table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    if rows:
        _run(insert(table), rows)


def _run(statement: Any, rows: Sequence[Mapping[str, Any]] | None = None) -> Any:
    """Run a statement on indexed tables without outbox entries: `write` makes them."""
    return db.session.execute(statement, rows, execution_options=INDEXED_SEPARATELY)
