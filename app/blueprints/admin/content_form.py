"""The forms of pages and collections: what was typed, kept as text, and what it means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from werkzeug.datastructures import MultiDict

from app.blueprints.admin.form_numbers import sent_ids, sent_revision
from app.domain.catalogue.collections import CollectionDraft, moved, product_ids_of
from app.domain.catalogue.models import Collection, Page
from app.domain.catalogue.pages import PageDraft


@dataclass(frozen=True, slots=True)
class PageForm:
    """`revision` 0 is a page that is not saved yet."""

    title: str = ""
    seo_name: str = ""
    body: str = ""
    meta_description: str = ""
    canonical_url: str = ""
    enabled: bool = True
    revision: int = 0

    @classmethod
    def of(cls, page: Page) -> PageForm:
        return cls(
            title=page.title,
            seo_name=page.seo_name,
            body=page.body,
            meta_description=page.meta_description or "",
            canonical_url=page.canonical_url or "",
            enabled=page.enabled,
            revision=page.revision,
        )

    @classmethod
    def typed(cls, sent: MultiDict[str, str]) -> PageForm:
        return cls(
            title=sent.get("title", ""),
            seo_name=sent.get("seoName", ""),
            body=sent.get("body", ""),
            meta_description=sent.get("metaDescription", ""),
            canonical_url=sent.get("canonicalUrl", ""),
            enabled="enabled" in sent,
            revision=sent_revision(sent),
        )

    def on(self, revision: int) -> PageForm:
        """What was typed, to be saved over another revision."""
        return replace(self, revision=revision)

    def draft(self) -> PageDraft:
        return PageDraft(
            title=self.title,
            seo_name=self.seo_name,
            body=self.body,
            meta_description=self.meta_description,
            canonical_url=self.canonical_url,
            enabled=self.enabled,
        )


@dataclass(frozen=True, slots=True)
class CollectionForm:
    """`product_ids` in their order; `revision` 0 is a collection that is not saved yet."""

    name: str = ""
    seo_name: str = ""
    description: str = ""
    canonical_url: str = ""
    enabled: bool = True
    revision: int = 0
    product_ids: tuple[int, ...] = ()

    @classmethod
    def of(cls, collection: Collection) -> CollectionForm:
        return cls(
            name=collection.name,
            seo_name=collection.seo_name,
            description=collection.description,
            canonical_url=collection.canonical_url or "",
            enabled=collection.enabled,
            revision=collection.revision,
            product_ids=product_ids_of(collection),
        )

    @classmethod
    def typed(cls, sent: MultiDict[str, str]) -> CollectionForm:
        return cls(
            name=sent.get("name", ""),
            seo_name=sent.get("seoName", ""),
            description=sent.get("description", ""),
            canonical_url=sent.get("canonicalUrl", ""),
            enabled="enabled" in sent,
            revision=sent_revision(sent),
            product_ids=tuple(dict.fromkeys(sent_ids(sent, "product"))),
        )

    def on(self, revision: int) -> CollectionForm:
        """What was typed, to be saved over another revision."""
        return replace(self, revision=revision)

    def after(self, intent: str) -> CollectionForm:
        """The form after a button of its products was pressed: `add:7`, `remove:7`, `up:7` or `down:7`."""
        action, _, number = intent.partition(":")
        if not (number.isascii() and number.isdigit() and len(number) < 10):
            return self
        return replace(self, product_ids=_changed(self.product_ids, action, int(number)))

    def draft(self) -> CollectionDraft:
        return CollectionDraft(
            name=self.name,
            seo_name=self.seo_name,
            description=self.description,
            canonical_url=self.canonical_url,
            enabled=self.enabled,
            product_ids=self.product_ids,
        )


def _changed(product_ids: Sequence[int], action: str, product_id: int) -> tuple[int, ...]:
    if action == "add":
        return tuple(dict.fromkeys((*product_ids, product_id)))
    if action == "remove":
        return tuple(other for other in product_ids if other != product_id)
    steps = {"up": -1, "down": 1}.get(action, 0)
    return moved(product_ids, product_id, steps)
