"""Queries of collections and pages for the shop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from app.domain.catalogue.content import ContentKind
from app.domain.catalogue.models import Collection, CollectionEntry, Page
from app.domain.shared.problems import NotFound
from app.domain.shared.records import existing
from app.extensions import db


@dataclass(frozen=True, slots=True)
class ShownCollection:
    """A collection as shoppers see it. `product_ids` in the collection's own order; some of them may not be for
    sale."""

    id: int
    name: str
    description: str
    canonical_url: str | None
    product_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ShownPage:
    """A page as shoppers see it. `body` is HTML that was sanitised when it was saved."""

    title: str
    body: str
    meta_description: str | None
    canonical_url: str | None


@dataclass(frozen=True, slots=True)
class ContentLink:
    name: str
    path: str


FOLDERS = {"page": "pages", "collection": "collections"}


def content_link(kind: str, name: str, seo_name: str) -> ContentLink:
    return ContentLink(name, f"/{FOLDERS[kind]}/{seo_name}")


def collection_at(site_id: int, seo_name: str) -> ShownCollection:
    """Return the enabled collection with an SEO name. Raises NotFound."""
    collection = db.session.execute(
        select(Collection.id, Collection.name, Collection.description, Collection.canonical_url).where(
            Collection.site_id == site_id, Collection.seo_name == seo_name, Collection.enabled
        )
    ).one_or_none()
    if collection is None:
        raise NotFound("This collection does not exist or has been removed.")
    entries = select(CollectionEntry.product_id).where(CollectionEntry.collection_id == collection.id)
    product_ids = db.session.scalars(entries.order_by(CollectionEntry.position))
    return ShownCollection(*collection, tuple(product_ids))


def page_at(site_id: int, seo_name: str) -> ShownPage:
    """Return the enabled page with an SEO name. Raises NotFound."""
    page = db.session.execute(
        select(Page.title, Page.body, Page.meta_description, Page.canonical_url).where(
            Page.site_id == site_id, Page.seo_name == seo_name, Page.enabled
        )
    ).one_or_none()
    return ShownPage(*existing(page, "This page does not exist or has been removed."))


def content_links(kind: ContentKind[Any, Any], site_id: int, most: int) -> tuple[ContentLink, ...]:
    """Links to the enabled records of a kind, by title."""
    title = kind.title_column()
    query = select(title, kind.model.seo_name).where(kind.model.site_id == site_id, kind.model.enabled)
    rows = db.session.execute(query.order_by(title).limit(most))
    return tuple(content_link(kind.noun, name, seo_name) for name, seo_name in rows)
