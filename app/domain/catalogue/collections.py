"""Use cases of collections: hand-made lists of products. Call the writing ones within a transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy import select
from sqlalchemy.orm import selectinload

from app.domain.catalogue.markup import clean_html
from app.domain.catalogue.models import Collection, CollectionEntry, Product
from app.domain.catalogue.names import free_seo_name, seo_name_problems
from app.domain.catalogue.saving import assign, check_revision, flush_or_conflict
from app.domain.shared.addresses import slug, slug_problems, url_problems
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Invalid, NotFound, Problem
from app.domain.shared.text import block_problems, line_problems, one_line
from app.domain.sites import audit
from app.extensions import db

LONGEST_NAME = 200
LONGEST_DESCRIPTION = 50_000
MOST_PRODUCTS = 1_000
FIELDS = ("seo_name", "name", "description", "canonical_url", "enabled")


@dataclass(frozen=True, slots=True)
class CollectionDraft:
    """A collection as somebody sent it; `product_ids` in the order in which the shop shows them. An empty `seo_name`
    asks for one made from the name."""

    name: str
    seo_name: str = ""
    description: str = ""
    canonical_url: str | None = None
    enabled: bool = True
    product_ids: tuple[int, ...] = ()


def clean_collection(draft: CollectionDraft) -> CollectionDraft:
    """Trimmed, its description sanitised, each product once. Raises Invalid with every problem."""
    tidy = _tidy(draft)
    if problems := collection_problems(tidy):
        raise Invalid(problems)
    return replace(tidy, description=clean_html(tidy.description))


def collection_problems(draft: CollectionDraft) -> list[Problem]:
    problems = [
        *line_problems(draft.name, "The name", LONGEST_NAME, "#/name", required=True),
        *(slug_problems(draft.seo_name, "The SEO name", "#/seoName") if draft.seo_name else ()),
        *block_problems(draft.description, "The description", LONGEST_DESCRIPTION, "#/description"),
        *(url_problems(draft.canonical_url, "The canonical URL", "#/canonicalUrl") if draft.canonical_url else ()),
    ]
    if len(draft.product_ids) > MOST_PRODUCTS:
        problems.append(Problem("too_many", f"A collection holds at most {MOST_PRODUCTS:,} products.", "#/products"))
    return problems


def seo_name_of(name: str) -> str:
    return slug(name, "collection")


def collection_of(site_id: int, collection_id: int, to_change: bool = False) -> Collection:
    """A collection of this site with its entries. Raises NotFound."""
    query = (
        select(Collection)
        .where(Collection.site_id == site_id, Collection.id == collection_id)
        .options(selectinload(Collection.entries))
    )
    collection = db.session.scalar(query.with_for_update() if to_change else query)
    if collection is None:
        raise NotFound("There is no such collection on this site.")
    return collection


def create(clock: Clock, site_id: int, draft: CollectionDraft, actor: str) -> Collection:
    """Raises Invalid."""
    clean = _checked(site_id, draft, None)
    clean = replace(clean, seo_name=clean.seo_name or free_seo_name(site_id, seo_name_of(clean.name), Collection))
    collection = Collection(site_id=site_id, revision=1, updated_at=clock.now())
    assign(collection, clean, FIELDS)
    _arrange(collection, clean.product_ids)
    db.session.add(collection)
    flush_or_conflict()
    subject = ("collection", str(collection.id))
    audit.record(clock, site_id, actor, "collection.create", subject, f"Added {collection.name}")
    return collection


def save(
    clock: Clock, site_id: int, collection_id: int, revision: int, draft: CollectionDraft, actor: str
) -> tuple[Collection, tuple[str, ...]]:
    """The collection and the names of what changed. Raises NotFound, StaleRevision, Invalid."""
    collection = collection_of(site_id, collection_id, to_change=True)
    check_revision(site_id, ("collection", collection.id), collection.revision, revision)
    clean = _checked(site_id, draft, collection.id)
    before = assign(collection, replace(clean, seo_name=clean.seo_name or collection.seo_name), FIELDS)
    after = {name: getattr(collection, name) for name in before}
    if product_ids_of(collection) != clean.product_ids:
        before["products"], after["products"] = list(product_ids_of(collection)), list(clean.product_ids)
        _arrange(collection, clean.product_ids)
    if before:
        collection.revision += 1
        collection.updated_at = clock.now()
        subject = ("collection", str(collection.id))
        audit.record(clock, site_id, actor, "collection.save", subject, f"Changed {collection.name}", before, after)
    flush_or_conflict()
    return collection, tuple(before)


def delete(clock: Clock, site_id: int, collection_id: int, actor: str) -> str:
    """Remove a collection, not its products; its name. Raises NotFound."""
    collection = collection_of(site_id, collection_id, to_change=True)
    name, before = collection.name, {field: getattr(collection, field) for field in FIELDS}
    db.session.delete(collection)
    db.session.flush()
    subject = ("collection", str(collection_id))
    audit.record(clock, site_id, actor, "collection.delete", subject, f"Deleted {name}", before)
    return name


def product_ids_of(collection: Collection) -> tuple[int, ...]:
    return tuple(entry.product_id for entry in collection.entries)


def draft_of(collection: Collection) -> CollectionDraft:
    """The collection in the form in which people send it."""
    fields = {name: getattr(collection, name) for name in FIELDS}
    return CollectionDraft(**fields, product_ids=product_ids_of(collection))


def moved(product_ids: Sequence[int], product_id: int, steps: int) -> tuple[int, ...]:
    """The order after one product went `steps` places down (up where negative); the ends stop it."""
    rest = [other for other in product_ids if other != product_id]
    if len(rest) == len(product_ids):
        return tuple(product_ids)
    place = max(0, min(len(rest), list(product_ids).index(product_id) + steps))
    return (*rest[:place], product_id, *rest[place:])


def _arrange(collection: Collection, product_ids: Sequence[int]) -> None:
    """An entry that stays is the same record, so that only what moved is written."""
    known = {entry.product_id: entry for entry in collection.entries}
    wanted = []
    for position, product_id in enumerate(product_ids):
        entry = known.get(product_id) or CollectionEntry(site_id=collection.site_id, product_id=product_id)
        entry.position = position
        wanted.append(entry)
    collection.entries = wanted


def _checked(site_id: int, draft: CollectionDraft, own_id: int | None) -> CollectionDraft:
    tidy = _tidy(draft)
    problems = [
        *collection_problems(tidy),
        *seo_name_problems(site_id, tidy.seo_name, own_id, Collection),
        *_unknown_products(site_id, tidy.product_ids),
    ]
    if problems:
        raise Invalid(problems)
    return clean_collection(tidy)


def _unknown_products(site_id: int, product_ids: Sequence[int]) -> list[Problem]:
    wanted = set(product_ids[: MOST_PRODUCTS + 1])
    known = set(db.session.scalars(select(Product.id).where(Product.site_id == site_id, Product.id.in_(wanted))))
    if wanted <= known:
        return []
    return [Problem("unknown_product", "Some of these products are no longer on this site.", "#/products")]


def _tidy(draft: CollectionDraft) -> CollectionDraft:
    return replace(
        draft,
        name=one_line(draft.name),
        seo_name=draft.seo_name.strip(),
        canonical_url=(draft.canonical_url or "").strip() or None,
        product_ids=tuple(dict.fromkeys(draft.product_ids)),
    )
