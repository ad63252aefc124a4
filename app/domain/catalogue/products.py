"""Use cases of products. Call them within a transaction; each writes its line of the activity log."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import select
from sqlalchemy.orm import selectinload

from app.domain.catalogue import search_terms
from app.domain.catalogue.events import ProductDeleted
from app.domain.catalogue.models import Product, Variant
from app.domain.catalogue.names import free_seo_name, taken_problems
from app.domain.catalogue.product_changes import FIELDS, note_changes, snapshot
from app.domain.catalogue.rules import (
    ProductDraft,
    VariantDraft,
    clean_product,
    picture_problems,
    seo_name_of,
    tidy_product,
)
from app.domain.catalogue.saving import assign, check_revision, flush_or_conflict
from app.domain.shared.author import Author
from app.domain.shared.problems import Invalid, NotFound
from app.domain.shared.records import existing, find_record
from app.domain.sites import audit
from app.events import publish
from app.extensions import db

MOST_AT_ONCE = 500


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
    clean = _checked(author.site_id, draft, None)
    clean = replace(clean, seo_name=clean.seo_name or free_seo_name(author.site_id, seo_name_of(clean.name)))
    now = author.now()
    product = Product(site_id=author.site_id, created_at=now, updated_at=now, search_terms=[], revision=1)
    _fill(product, clean)
    refused = _take_terms(product, terms)
    db.session.add(product)
    flush_or_conflict()
    audit.record(author, "product.create", ("product", str(product.id)), f"Added {product.name}")
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
    clean = _checked(author.site_id, draft, product)
    before = snapshot(product)
    _fill(product, replace(clean, seo_name=clean.seo_name or product.seo_name))
    refused = None if terms is None else _take_terms(product, terms)
    if further is not None:
        further(product)
    changed = note_changes(author, product, before)
    flush_or_conflict()
    return Saved(product, changed, refused)


def set_enabled(author: Author, product_ids: Sequence[int], enabled: bool) -> int:
    """Show or hide products; return how many changed. Raises Invalid for more than MOST_AT_ONCE, NotFound when one is
    not of this site; then none is changed."""
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
    return len(changing)


def delete(author: Author, product_id: int) -> str:
    """Delete a product with all that belongs to it and return its name. Raises NotFound."""
    product = product_of(author.site_id, product_id, to_change=True)
    name, before = product.name, snapshot(product)
    db.session.delete(product)
    db.session.flush()
    audit.record(author, "product.delete", ("product", str(product_id)), f"Deleted {name}", before)
    publish(ProductDeleted(author.site_id, product_id))
    return name


def _checked(site_id: int, draft: ProductDraft, product: Product | None) -> ProductDraft:
    tidy = tidy_product(draft)
    taken = taken_problems(site_id, tidy, product.id if product else None)
    files = {image.file for image in product.images} if product else set()
    return clean_product(site_id, draft, [*taken, *picture_problems(tidy.variants, files)])


def _fill(product: Product, draft: ProductDraft) -> None:
    assign(product, draft, FIELDS)
    _fill_variants(product, draft.variants)


def _fill_variants(product: Product, drafts: Sequence[VariantDraft]) -> None:
    """Store the variants of a draft. A variant is known by its SKU, so that one which only moved or changed its price
    stays the same record."""
    known = {variant.sku: variant for variant in product.variants}
    wanted = [known.get(draft.sku) or Variant(site_id=product.site_id, sku=draft.sku) for draft in drafts]
    for position, (variant, draft) in enumerate(zip(wanted, drafts, strict=True)):
        variant.position = position
        variant.upc, variant.price, variant.stock = draft.upc, draft.price, draft.stock
        variant.options, variant.picture = dict(draft.options), draft.picture
    if wanted != product.variants:
        product.variants = wanted


def _take_terms(product: Product, terms: Sequence[object]) -> Invalid | None:
    try:
        clean = search_terms.clean_terms(terms)
    except Invalid as refused:
        return refused
    if clean != product.search_terms:
        product.search_terms = clean
    return None
