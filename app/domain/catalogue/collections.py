"""Collections: lists of products made by hand, each with a page of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import selectinload

from app.domain.catalogue.content import ContentDraft, ContentKind, ContentText
from app.domain.catalogue.models import Collection, CollectionEntry, Product
from app.domain.shared.problems import Problem
from app.extensions import db

MOST_PRODUCTS = 1_000


@dataclass(frozen=True, slots=True)
class CollectionDraft(ContentDraft):
    """A collection as it was sent; `product_ids` in the order in which the shop shows them."""

    name: str
    description: str = ""
    product_ids: tuple[int, ...] = ()


class _CollectionKind(ContentKind[Collection, CollectionDraft]):
    options = (selectinload(Collection.entries),)
    products = select(func.count()).where(CollectionEntry.collection_id == Collection.id).scalar_subquery()

    def further(self, record: Collection) -> dict[str, Any]:
        return {"product_ids": product_ids_of(record)}

    def assign_further(self, record: Collection, draft: CollectionDraft) -> dict[str, tuple[Any, Any]]:
        """Store the products of a collection and return their change, empty for none. An entry that stays is the same
        record, so that only what moved is written."""
        held = product_ids_of(record)
        if held == draft.product_ids:
            return {}
        known = {entry.product_id: entry for entry in record.entries}
        wanted = []
        for position, product_id in enumerate(draft.product_ids):
            entry = known.get(product_id) or CollectionEntry(site_id=record.site_id, product_id=product_id)
            entry.position = position
            wanted.append(entry)
        record.entries = wanted
        return {"products": (list(held), list(draft.product_ids))}

    def tidy_further(self, draft: CollectionDraft) -> CollectionDraft:
        return replace(draft, product_ids=tuple(dict.fromkeys(draft.product_ids)))

    def further_problems(self, draft: CollectionDraft) -> list[Problem]:
        if len(draft.product_ids) <= MOST_PRODUCTS:
            return []
        return [Problem("too_many", f"A collection holds at most {MOST_PRODUCTS:,} products.", "#/products")]

    def stored_problems(self, site_id: int, draft: CollectionDraft, own_id: int | None) -> list[Problem]:
        taken = super().stored_problems(site_id, draft, own_id)
        return [*taken, *unknown_products(site_id, draft.product_ids[: MOST_PRODUCTS + 1])]


COLLECTION = _CollectionKind(
    "collection",
    Collection,
    CollectionDraft,
    (
        ContentText("name", "The name", 200, required=True),
        ContentText("description", "The description", 50_000, is_html=True),
    ),
)


def unknown_products(site_id: int, product_ids: Sequence[int]) -> list[Problem]:
    """Return a problem where some of the products are not the site's, else none."""
    wanted = set(product_ids)
    known = set(db.session.scalars(select(Product.id).where(Product.site_id == site_id, Product.id.in_(wanted))))
    if wanted <= known:
        return []
    return [Problem("unknown_product", "Some of these products are no longer on this site.", "#/products")]


def product_ids_of(collection: Collection) -> tuple[int, ...]:
    return tuple(entry.product_id for entry in collection.entries)


def moved(product_ids: Sequence[int], product_id: int, steps: int) -> tuple[int, ...]:
    """Return the order after one product moved `steps` places down (up where negative), to the end at most."""
    rest = [other for other in product_ids if other != product_id]
    if len(rest) == len(product_ids):
        return tuple(product_ids)
    place = max(0, min(len(rest), list(product_ids).index(product_id) + steps))
    return (*rest[:place], product_id, *rest[place:])
