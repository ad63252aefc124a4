"""Use cases of products. Call them within a transaction; each writes its line of the activity log."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import selectinload

from app.domain.catalogue.models import Product, Variant
from app.domain.catalogue.product_rules import (
    ProductDraft,
    clean_product,
    clean_terms,
    describe_term_change,
    picture_problems,
    seo_name_of,
)
from app.domain.catalogue.revisions import (
    TAKEN_MEANWHILE,
    assign,
    check_revision,
    free_seo_name,
    name_taken,
    seo_name_problems,
)
from app.domain.shared.author import Author
from app.domain.shared.problems import Invalid, NotFound, Problem
from app.domain.shared.records import existing, find_record, flush_or_conflict
from app.domain.sites import activity
from app.events import publish
from app.extensions import db

MOST_AT_ONCE = 500
TERMS = "search_terms"
FIELDS = tuple(field.name for field in fields(ProductDraft) if field.name != "variants")


@dataclass(frozen=True, slots=True)
class ProductDeleted:
    """Event: a product was deleted."""

    site_id: int
    product_id: int


@dataclass(frozen=True, slots=True)
class Saved:
    """The outcome of a save. `changed` names the fields that really changed; `refused_terms` says why a list of search
    terms was not taken while the rest was."""

    product: Product
    changed: tuple[str, ...]
    refused_terms: Invalid | None = None


def product_of(site_id: int, product_id: int, to_change: bool = False) -> Product:
    """Return a product of this site with its variants and pictures; `to_change` locks its row. Raises NotFound."""
    options = selectinload(Product.variants), selectinload(Product.images)
    product = find_record(Product, site_id, product_id, to_change, options)
    return existing(product, "There is no such product on this site.")


def create(author: Author, draft: ProductDraft, terms: Sequence[object]) -> Saved:
    """Create a product. Raises Invalid, Conflict; an invalid list of terms alone is reported in the answer."""
    clean = clean_product(author.site_id, draft, partial(_stored_problems, author.site_id, None))
    clean = replace(clean, seo_name=clean.seo_name or free_seo_name(author.site_id, seo_name_of(clean.name)))
    now = author.now()
    product = Product(site_id=author.site_id, created_at=now, updated_at=now, search_terms=[], revision=1)
    _fill(product, clean)
    refused = _take_terms(product, terms)
    db.session.add(product)
    flush_or_conflict(TAKEN_MEANWHILE)
    activity.record(author, "product.create", ("product", str(product.id)), f"Added the product {product.name}")
    return Saved(product, FIELDS, refused)


def save(
    author: Author,
    product_id: int,
    revision: int,
    draft: ProductDraft,
    terms: Sequence[object] | None,
    further: Callable[[Product], None] | None = None,
) -> Saved:
    """Change a product that was read at `revision`. None in `terms` leaves the search terms; an empty SEO name keeps
    the one it has. `further` changes of the product belong to the same revision. Raises NotFound, StaleRevision,
    Invalid, Conflict; an invalid list of terms alone is reported in the answer."""
    product = product_of(author.site_id, product_id, to_change=True)
    check_revision(author.site_id, ("product", product.id), product.revision, revision)
    clean = clean_product(author.site_id, draft, partial(_stored_problems, author.site_id, product))
    before = snapshot(product)
    _fill(product, replace(clean, seo_name=clean.seo_name or product.seo_name))
    refused = None if terms is None else _take_terms(product, terms)
    if further is not None:
        further(product)
    changed = note_changes(author, product, before)
    flush_or_conflict(TAKEN_MEANWHILE)
    return Saved(product, changed, refused)


def set_enabled(author: Author, product_ids: Sequence[int], enabled: bool) -> list[int]:
    """Show or hide products; return the ids of those that changed. Raises Invalid for more than MOST_AT_ONCE, NotFound
    when one is not of this site; then none is changed."""
    wanted = set(product_ids)
    if len(wanted) > MOST_AT_ONCE:
        raise Invalid.one("too_many", f"At most {MOST_AT_ONCE} products can be changed at once.")
    query = select(Product).where(Product.site_id == author.site_id, Product.id.in_(wanted)).order_by(Product.id)
    products = db.session.scalars(query.options(selectinload(Product.variants)).with_for_update()).all()
    if len(products) < len(wanted):
        raise NotFound("Some of these products are no longer on this site. Reload the list.")
    changing = [product for product in products if product.enabled != enabled]
    for product in changing:
        before = snapshot(product)
        product.enabled = enabled
        note_changes(author, product, before)
    return [product.id for product in changing]


def delete(author: Author, product_id: int) -> str:
    """Delete a product with all that belongs to it and return its name. Raises NotFound."""
    product = product_of(author.site_id, product_id, to_change=True)
    name, before = product.name, snapshot(product)
    db.session.delete(product)
    db.session.flush()
    activity.record(author, "product.delete", ("product", str(product_id)), f"Deleted the product {name}", before)
    publish(ProductDeleted(author.site_id, product_id))
    return name


def _stored_problems(site_id: int, product: Product | None, draft: ProductDraft) -> list[Problem]:
    """Return the problems of a tidied draft of a product, None for a new one, with what is stored: SKUs and an SEO name
    that other products of the site have, and pictures that neither it nor any of its variants has."""
    own_id = product.id if product else None
    images = {image.file for image in product.images} if product else set()
    pictures = {variant.picture for variant in product.variants if variant.picture} if product else set()
    named = select(Product.id, Product.name).where(Product.site_id == site_id, Product.sku == draft.sku)
    others = (owner for owner_id, owner in db.session.execute(named) if owner_id != own_id)
    owners: dict[str, str] = {}
    if skus := [variant.sku for variant in draft.variants]:
        query = select(Variant.sku, Product.name).join(Product, Product.id == Variant.product_id)
        query = query.where(Variant.site_id == site_id, Variant.sku.in_(skus), Variant.product_id != (own_id or 0))
        owners = {sku: owner for sku, owner in db.session.execute(query)}
    return [
        *seo_name_problems(site_id, draft.seo_name, own_id, Product.name),
        *(name_taken("SKU", draft.sku, owner, "#/sku") for owner in others),
        *(
            name_taken("SKU", variant.sku, owners[variant.sku], f"#/variants/{index}/sku")
            for index, variant in enumerate(draft.variants)
            if variant.sku in owners
        ),
        *picture_problems(draft.variants, images | pictures),
    ]


def _fill(product: Product, draft: ProductDraft) -> None:
    """Store a draft in its product. A variant is known by its SKU, so that one which only moved or changed its price
    stays the same record."""
    assign(product, draft, FIELDS)
    stored = {variant.sku: variant for variant in product.variants}
    wanted = [stored.get(sent.sku) or Variant(site_id=product.site_id, sku=sent.sku) for sent in draft.variants]
    for position, (variant, sent) in enumerate(zip(wanted, draft.variants, strict=True)):
        variant.position = position
        variant.upc, variant.price, variant.stock = sent.upc, sent.price, sent.stock
        variant.options, variant.picture = dict(sent.options), sent.picture
    if wanted != product.variants:
        product.variants = wanted


def _take_terms(product: Product, terms: Sequence[object]) -> Invalid | None:
    try:
        clean = clean_terms(terms)
    except Invalid as refused:
        return refused
    if clean != product.search_terms:
        product.search_terms = clean
    return None


def snapshot(product: Product) -> dict[str, Any]:
    """Return the values of a product that a save may change, for `note_changes`."""
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
        activity.record(
            author,
            "product.save",
            ("product", str(product.id)),
            describe_term_change(product.name, before[TERMS], after[TERMS])
            if changed == (TERMS,)
            else f"Changed the product {product.name}",
            before={name: _differing_part(before[name], after[name]) for name in changed},
            after={name: _differing_part(after[name], before[name]) for name in changed},
        )
    return changed


def _differing_part(value: Any, other: Any) -> Any:
    """Return a value, of attribute values only those that differ."""
    if not isinstance(value, dict) or not isinstance(other, dict):
        return value
    return {name: item for name, item in value.items() if name not in other or other[name] != item}
