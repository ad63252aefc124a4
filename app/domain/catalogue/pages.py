"""Pages of text."""

from __future__ import annotations

from dataclasses import dataclass

from app.domain.catalogue.content import ContentDraft, ContentKind, ContentText
from app.domain.catalogue.models import Page


@dataclass(frozen=True, slots=True)
class PageDraft(ContentDraft):
    """A page as it was sent; `body` is HTML."""

    title: str
    body: str = ""
    meta_description: str | None = None


PAGE = ContentKind(
    "page",
    Page,
    PageDraft,
    (
        ContentText("title", "The title", 200, required=True),
        ContentText("body", "The body", 100_000, is_html=True),
        ContentText("meta_description", "The meta description", 500, is_nullable=True),
    ),
)
