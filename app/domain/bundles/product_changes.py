"""Changes by rows of a bundle to stored products: the stored products of a batch, what each row changes of them, and
the writing of a batch's changes by few statements, with their outbox entries, in the caller's transaction."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Table, bindparam, delete, insert, select, update

from app.domain.bundles.product_rows import ImportedProduct
from app.domain.catalogue.models import INDEXED_SEPARATELY, Product, ProductAttributeValue, ProductImage, Variant
from app.domain.catalogue.pictures import StoredImage
from app.domain.catalogue.product_rules import ProductDraft, VariantDraft
from app.domain.search.document_ids import PRODUCT
from app.domain.search.index.outbox import enqueue
from app.domain.search_statistics.counting import before_after
from app.domain.search_statistics.counting.before_after import TermsChange
from app.domain.seo.redirects.moved_addresses import note_moved
from app.domain.taxonomy.products.classification import Classification, counted_values, values_held
from app.domain.taxonomy.tree import TaxonomyTree
from app.extensions import db

DRAFT_DEFAULTS = {known.name: known.default for known in fields(ProductDraft) if known.name != "variants"}
PRODUCTS: Table = Product.__table__  # type: ignore[assignment]
VALUES: Table = ProductAttributeValue.__table__  # type: ignore[assignment]
VARIANTS: Table = Variant.__table__  # type: ignore[assignment]
IMAGES: Table = ProductImage.__table__  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class Picture:
    """A kept picture, its name in the bundle, and its description; None where the bundle says nothing of it. `source`
    is the address that it was fetched from."""

    image: StoredImage
    alt: str | None = None
    name: str = ""
    source: str | None = None


@dataclass(slots=True)
class StoredProduct:
    """A product as the database holds it. `columns` are the product's own; `variant_ids` has the records of `variants`
    by SKU, `images` its pictures with their descriptions."""

    id: int
    columns: dict[str, Any]
    variants: list[VariantDraft] = field(default_factory=list)
    variant_ids: dict[str, int] = field(default_factory=dict)
    images: list[Picture] = field(default_factory=list)

    def values_held(self, tree: TaxonomyTree) -> dict[str, Any]:
        """Return the product's attribute values in their current words."""
        return values_held(tree, self.columns["taxonomy_level_id"], self.columns["taxonomy_attributes"])


def hold_products(site_id: int, skus: Collection[str]) -> None:
    """Lock the products until the transaction ends, in the order of their ids as wherever several are changed at once:
    in the order of the file, this and another transaction could deadlock."""
    query = select(Product.id).where(Product.site_id == site_id, Product.sku.in_(skus)).order_by(Product.id)
    db.session.execute(query.with_for_update())


def stored_products(site_id: int, skus: Collection[str]) -> dict[str, StoredProduct]:
    """Return the stored products by SKU, in three queries."""
    table = Product.__table__
    query = select(table).where(table.c.site_id == site_id, table.c.sku.in_(skus))
    found = {row.id: StoredProduct(row.id, dict(row._mapping)) for row in db.session.execute(query)}
    _add_variants(found)
    _add_images(found)
    return {product.columns["sku"]: product for product in found.values()}


def _add_variants(found: dict[int, StoredProduct]) -> None:
    query = select(Variant.__table__).where(Variant.product_id.in_(found)).order_by(Variant.position, Variant.id)
    for row in db.session.execute(query):
        product = found[row.product_id]
        product.variants.append(VariantDraft(row.sku, row.upc, row.price, row.stock, row.options, row.picture))
        product.variant_ids[row.sku] = row.id


def _add_images(found: dict[int, StoredProduct]) -> None:
    query = (
        select(*(getattr(ProductImage, name) for name in ("product_id", "file", "width", "height", "alt", "source")))
        .where(ProductImage.product_id.in_(found))
        .order_by(ProductImage.position, ProductImage.id)
    )
    for product_id, file, width, height, alt, source in db.session.execute(query):
        found[product_id].images.append(Picture(StoredImage(file, width, height), alt, source=source))


def needed_fields(site_id: int, skus: Collection[str]) -> dict[str, dict[str, Any]]:
    """Return name and price of the stored products, which every row of a product needs, by SKU."""
    query = select(Product.sku, Product.name, Product.price).where(Product.site_id == site_id, Product.sku.in_(skus))
    return {sku: {"name": name, "price": price} for sku, name, price in db.session.execute(query)}


def variant_options(site_id: int, skus: Collection[str]) -> dict[str, Mapping[str, str]]:
    """Return the options of stored variants, by their SKUs."""
    query = select(Variant.sku, Variant.options).where(Variant.site_id == site_id, Variant.sku.in_(skus))
    return dict(db.session.execute(query).all())


def variant_owners(site_id: int, skus: Collection[str]) -> dict[str, int]:
    """Return the ids of the products whose variants have these SKUs, by the SKU."""
    if not skus:
        return {}
    query = select(Variant.sku, Variant.product_id).where(Variant.site_id == site_id, Variant.sku.in_(skus))
    return dict(db.session.execute(query).all())


def seo_names(site_id: int) -> list[str]:
    return list(db.session.scalars(select(Product.seo_name).where(Product.site_id == site_id)))


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
        pictures = _with_stored_pictures(candidate.images, stored.images, candidate.row.keeps_others)
        if _compared(pictures) != _compared(stored.images):
            change.images = pictures
    return change


def with_stored(row: ImportedProduct, stored: StoredProduct) -> list[VariantDraft] | None:
    """Return the row's variants, with the stored fields where the row leaves fields out. Of a row that keeps variants
    the stored ones stay in their order, and new ones follow."""
    if not row.variants:
        return row.variants
    known = {variant.sku: variant for variant in stored.variants}
    named = {
        variant.sku: _with_stored_fields(_with_own_price(variant, row, stored), row, known) for variant in row.variants
    }
    if not row.keeps_others:
        return list(named.values())
    return list((known | named).values())


def _with_stored_fields(variant: VariantDraft, row: ImportedProduct, known: Mapping[str, VariantDraft]) -> VariantDraft:
    if variant.sku not in known:
        return variant
    kept = row.kept - {"picture"} if variant.picture else row.kept
    return replace(variant, **{name: getattr(known[variant.sku], name) for name in kept})


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


def _with_stored_pictures(pictures: list[Picture], stored: list[Picture], keeps_others: bool) -> list[Picture]:
    """Return the pictures that the product gets. One that the bundle does not describe keeps the stored description.
    Of a row that keeps others the stored pictures stay in their order, and new ones follow."""
    known = {picture.image.file: picture for picture in stored}
    completed: list[Picture] = []
    for picture in pictures:
        own = known.get(picture.image.file, Picture(picture.image, ""))
        alt = own.alt if picture.alt is None else picture.alt
        completed.append(replace(picture, alt=alt, source=picture.source or own.source))
    return list((known | {one.image.file: one for one in completed}).values()) if keeps_others else completed


def _compared(pictures: list[Picture]) -> list[tuple[str, str, str | None]]:
    return [(picture.image.file, picture.alt or "", picture.source) for picture in pictures]


def _classified_columns(classified: Classification) -> dict[str, Any]:
    return {
        "taxonomy_level_id": classified.level_id,
        "taxonomy_attributes": classified.values,
        "completeness_score": classified.score,
    }


def write_changes(
    site_id: int, additions: Sequence[Change], changes: Sequence[Change], now: datetime, by: str = ""
) -> None:
    """Write the changes of a batch and enqueue its products for the index. Changes go first, so that a name which one
    of them gives up is free for an addition. `by` names who redirects the addresses that change."""
    ids = [_id_of(change) for change in changes if "search_terms" in change.columns]
    terms = select(PRODUCTS.c.id, PRODUCTS.c.search_terms).where(PRODUCTS.c.id.in_(ids))
    terms_before = dict(db.session.execute(terms).all())
    moving = [_id_of(change) for change in changes if "seo_name" in change.columns]
    names = select(PRODUCTS.c.id, PRODUCTS.c.seo_name).where(PRODUCTS.c.id.in_(moving))
    names_before: dict[int, str | None] = dict(db.session.execute(names).all()) if moving else {}
    for change in changes:
        columns = change.columns | {"revision": PRODUCTS.c.revision + 1, "updated_at": now}
        _run_unindexed(update(PRODUCTS).where(PRODUCTS.c.id == change.product_id).values(**columns))
    _insert_products(site_id, additions)
    note_moved(site_id, names_before | dict.fromkeys(map(_id_of, additions)), by, now)
    _note_terms(site_id, [*changes, *additions], terms_before, now)
    everything = [*changes, *additions]
    _replace_values(site_id, [change for change in everything if change.values is not None])
    _replace_variants(site_id, [change for change in everything if change.variants is not None])
    _replace_images(site_id, [change for change in everything if change.images is not None])
    enqueue(db.session, site_id, PRODUCT, [_id_of(change) for change in everything])


def _id_of(change: Change) -> int:
    assert change.product_id is not None
    return change.product_id


def _insert_products(site_id: int, additions: Sequence[Change]) -> None:
    """Insert the products and set their ids. These are read back by SKU: one statement with thousands of parameters and
    RETURNING is far slower."""
    if additions:
        _run_unindexed(insert(PRODUCTS), [change.columns for change in additions])
        skus = [change.columns["sku"] for change in additions]
        query = select(PRODUCTS.c.sku, PRODUCTS.c.id).where(PRODUCTS.c.site_id == site_id, PRODUCTS.c.sku.in_(skus))
        ids = dict(db.session.execute(query).all())
        for change in additions:
            change.product_id = ids[change.columns["sku"]]


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
        _run_unindexed(delete(VARIANTS).where(VARIANTS.c.id.in_(gone)))
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
        _run_unindexed(update(VARIANTS).where(VARIANTS.c.id == bindparam("known_id")), staying)
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
                "source": picture.source,
            }
            for change in changes
            for position, picture in enumerate(change.images or ())
        ],
    )


def _delete_of(table: Table, changes: Sequence[Change]) -> None:
    if changes:
        _run_unindexed(delete(table).where(table.c.product_id.in_([change.product_id for change in changes])))


def _insert_all(table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    if rows:
        _run_unindexed(insert(table), rows)


def _run_unindexed(statement: Any, rows: Sequence[Mapping[str, Any]] | None = None) -> Any:
    """Run a statement on indexed tables without outbox entries: `write_changes` makes them."""
    return db.session.execute(statement, rows, execution_options=INDEXED_SEPARATELY)
