"""What the shop reads of collections and pages."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select

from app.domain.catalogue.models import Collection, CollectionEntry, Page
from app.domain.shared.problems import NotFound
from app.extensions import db


@dataclass(frozen=True, slots=True)
class ShownCollection:
    """`product_ids` in the collection's own order; some of them may not be for sale."""

    id: int
    name: str
    description: str
    product_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ShownPage:
    """`body` is HTML that was sanitised when it was saved."""

    title: str
    body: str
    meta_description: str | None


@dataclass(frozen=True, slots=True)
class ContentLink:
    name: str
    path: str


FOLDERS = {"page": "pages", "collection": "collections"}


def content_link(kind: str, name: str, seo_name: str) -> ContentLink:
    return ContentLink(name, f"/{FOLDERS[kind]}/{seo_name}")


def collection_at(site_id: int, seo_name: str) -> ShownCollection:
    """Raises NotFound."""
    collection = db.session.execute(
        select(Collection.id, Collection.name, Collection.description).where(
            Collection.site_id == site_id, Collection.seo_name == seo_name, Collection.enabled
        )
    ).one_or_none()
    if collection is None:
        raise NotFound("This collection is not there, or not any more.")
    entries = select(CollectionEntry.product_id).where(CollectionEntry.collection_id == collection.id)
    product_ids = db.session.scalars(entries.order_by(CollectionEntry.position))
    return ShownCollection(*collection, tuple(product_ids))


def page_at(site_id: int, seo_name: str) -> ShownPage:
    """Raises NotFound."""
    page = db.session.execute(
        select(Page.title, Page.body, Page.meta_description).where(
            Page.site_id == site_id, Page.seo_name == seo_name, Page.enabled
        )
    ).one_or_none()
    if page is None:
        raise NotFound("This page is not there, or not any more.")
    return ShownPage(*page)


def page_links(site_id: int, most: int) -> tuple[ContentLink, ...]:
    """The pages that every page of the shop links to, by title."""
    rows = db.session.execute(
        select(Page.title, Page.seo_name).where(Page.site_id == site_id, Page.enabled).order_by(Page.title).limit(most)
    )
    return tuple(content_link("page", row.title, row.seo_name) for row in rows)


def collection_links(site_id: int, most: int) -> tuple[ContentLink, ...]:
    rows = db.session.execute(
        select(Collection.name, Collection.seo_name)
        .where(Collection.site_id == site_id, Collection.enabled)
        .order_by(Collection.name)
        .limit(most)
    )
    return tuple(content_link("collection", row.name, row.seo_name) for row in rows)
