"""Changes of products, and of content with an address of its own: pages, collections and categories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import selectinload

from app.domain.catalogue import content, products
from app.domain.catalogue.content import COLLECTION, PAGE, ContentKind
from app.domain.catalogue.models import Product
from app.domain.catalogue.product_rules import ProductDraft, VariantDraft
from app.domain.catalogue.products import FIELDS, TERMS, product_of, snapshot
from app.domain.changes.kinds import RecordKind, State, Undo, states_by_id, whole_record
from app.domain.merchandising.categories import CATEGORY
from app.domain.shared.author import Author
from app.domain.shared.problems import Invalid
from app.domain.shared.records import find_record
from app.domain.sites.models import AuditEntry
from app.domain.taxonomy.products.classification import classify
from app.domain.taxonomy.taxonomies import active_tree, lock_active_id
from app.extensions import db

LEVEL, VALUES = "taxonomy_level_id", "taxonomy_attributes"
VARIANT_FIELDS = 6
VALUES_DO_NOT_FIT = "The taxonomy has changed since, and does not take these values any more."


def _product_states(site_id: int, ids: list[int]) -> Mapping[str, State]:
    query = select(Product).where(Product.site_id == site_id, Product.id.in_(ids))
    found = db.session.scalars(query.options(selectinload(Product.variants)))
    return {str(product.id): snapshot(product) for product in found}


def _product_fields(stored: Any) -> State:
    """Return the changed fields of a product; none where an older release wrote variants with fewer fields."""
    if not isinstance(stored, dict) or any(len(variant) != VARIANT_FIELDS for variant in stored.get("variants", ())):
        return None
    return stored


def _lock_product(site_id: int, product_id: str) -> None:
    lock_active_id(site_id)
    product_of(site_id, int(product_id), to_change=True)


def _revert_product(undo: Undo, product_id: str, changed: State) -> None:
    """Save a locked product with the values that its changed fields had."""
    author, fields = undo.author, changed or {}
    product = product_of(author.site_id, int(product_id), to_change=True)
    wanted = {**snapshot(product), **fields}
    terms = wanted[TERMS] if TERMS in fields else None
    reclassify = partial(_reclassify, author, wanted) if fields.keys() & {LEVEL, VALUES} else None
    saved = products.save(author, product.id, product.revision, _product_draft(wanted), terms, reclassify)
    if saved.refused_terms is not None:
        raise saved.refused_terms


def _product_draft(fields: Mapping[str, Any]) -> ProductDraft:
    plain = {name: fields[name] for name in FIELDS}
    return ProductDraft(**plain, variants=tuple(VariantDraft(*variant) for variant in fields["variants"]))


def _reclassify(author: Author, wanted: Mapping[str, Any], product: Product) -> None:
    """Give a product a level and values that it had. Raises Invalid where the taxonomy takes not all of them."""
    found = classify(product, active_tree(author.site_id), wanted[LEVEL], wanted[VALUES])
    if found.values != wanted[VALUES]:
        raise Invalid.one("values_do_not_fit", VALUES_DO_NOT_FIT, "#/attributes")


def _content_states(kind: ContentKind[Any, Any], site_id: int, ids: list[int]) -> Mapping[str, State]:
    query = select(kind.model).where(kind.model.site_id == site_id, kind.model.id.in_(ids))
    records = db.session.scalars(query.options(*kind.options)).all()
    drafts = zip(records, kind.drafts_of(records), strict=True)
    return {str(record.id): kind.logged(draft) for record, draft in drafts}


def _lock_content(kind: ContentKind[Any, Any], site_id: int, record_id: str) -> None:
    kind.lock(site_id, int(record_id))
    find_record(kind.model, site_id, int(record_id), to_change=True, options=kind.options)


def _revert_content(kind: ContentKind[Any, Any], undo: Undo, record_id: str, changed: State) -> None:
    """Save a record with the values that its changed fields had; None deletes it, and one that is gone is restored."""
    id = int(record_id)
    if changed is None:
        content.delete(undo.author, kind, id)
        return
    record = find_record(kind.model, undo.author.site_id, id, options=kind.options)
    if record is None:
        content.restore(undo.author, kind, id, kind.draft_of_logged(changed))
        return
    wanted = {**kind.logged(kind.draft_of(record)), **changed}
    content.save(undo.author, kind, id, record.revision, kind.draft_of_logged(wanted))


def _content_kind(kind: ContentKind[Any, Any], label: str, acts: Iterable[str], fields: frozenset[str]) -> RecordKind:
    return RecordKind(
        kind.noun,
        label,
        AuditEntry.action.in_([f"{kind.noun}.{act}" for act in acts]),
        states_by_id(partial(_content_states, kind)),
        partial(_revert_content, kind),
        partial=True,
        fields=fields,
        read=whole_record,
        lock=partial(_lock_content, kind),
    )


MADE_OR_CHANGED = ("create", "save", "delete", "restore")
TEXTS = frozenset(("canonical_url", "enabled", "seo_name"))
PRODUCT_KIND = RecordKind(
    "whole_product",
    "Products",
    AuditEntry.action == "product.save",
    states_by_id(_product_states),
    _revert_product,
    partial=True,
    read=_product_fields,
    lock=_lock_product,
)
CATALOGUE_KINDS = (
    PRODUCT_KIND,
    _content_kind(PAGE, "Pages", MADE_OR_CHANGED, TEXTS | {"title", "body", "meta_description"}),
    _content_kind(COLLECTION, "Collections", MADE_OR_CHANGED, TEXTS | {"name", "description", "products"}),
    _content_kind(CATEGORY, "Categories", ("save", "rename", "show", "hide"), frozenset()),
)
