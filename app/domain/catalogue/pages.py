"""Use cases of pages of text. Call the writing ones within a transaction."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlalchemy import select

from app.domain.catalogue.markup import clean_html
from app.domain.catalogue.models import Page
from app.domain.catalogue.names import free_seo_name, seo_name_problems
from app.domain.catalogue.saving import assign, check_revision, flush_or_conflict
from app.domain.shared.addresses import slug, slug_problems, url_problems
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Invalid, NotFound, Problem
from app.domain.shared.text import block_problems, line_problems, one_line
from app.domain.sites import audit
from app.extensions import db

LONGEST_TITLE = 200
LONGEST_BODY = 100_000
LONGEST_META = 500
FIELDS = ("seo_name", "title", "body", "meta_description", "canonical_url", "enabled")


@dataclass(frozen=True, slots=True)
class PageDraft:
    """A page as somebody sent it. `body` is HTML; an empty `seo_name` asks for one made from the title."""

    title: str
    seo_name: str = ""
    body: str = ""
    meta_description: str | None = None
    canonical_url: str | None = None
    enabled: bool = True


def clean_page(draft: PageDraft) -> PageDraft:
    """Trimmed, its body sanitised. Raises Invalid with every problem."""
    tidy = _tidy(draft)
    if problems := page_problems(tidy):
        raise Invalid(problems)
    return replace(tidy, body=clean_html(tidy.body))


def page_problems(draft: PageDraft) -> list[Problem]:
    return [
        *line_problems(draft.title, "The title", LONGEST_TITLE, "#/title", required=True),
        *(slug_problems(draft.seo_name, "The SEO name", "#/seoName") if draft.seo_name else ()),
        *block_problems(draft.body, "The body", LONGEST_BODY, "#/body"),
        *line_problems(draft.meta_description or "", "The meta description", LONGEST_META, "#/metaDescription"),
        *(url_problems(draft.canonical_url, "The canonical URL", "#/canonicalUrl") if draft.canonical_url else ()),
    ]


def seo_name_of(title: str) -> str:
    return slug(title, "page")


def page_of(site_id: int, page_id: int, to_change: bool = False) -> Page:
    """A page of this site. Raises NotFound."""
    query = select(Page).where(Page.site_id == site_id, Page.id == page_id)
    page = db.session.scalar(query.with_for_update() if to_change else query)
    if page is None:
        raise NotFound("There is no such page on this site.")
    return page


def create(clock: Clock, site_id: int, draft: PageDraft, actor: str) -> Page:
    """Raises Invalid."""
    clean = _checked(site_id, draft, None)
    clean = replace(clean, seo_name=clean.seo_name or free_seo_name(site_id, seo_name_of(clean.title), Page))
    page = Page(site_id=site_id, revision=1, updated_at=clock.now())
    assign(page, clean, FIELDS)
    db.session.add(page)
    flush_or_conflict()
    audit.record(clock, site_id, actor, "page.create", ("page", str(page.id)), f"Added {page.title}")
    return page


def save(
    clock: Clock, site_id: int, page_id: int, revision: int, draft: PageDraft, actor: str
) -> tuple[Page, tuple[str, ...]]:
    """The page and the names of what changed. Raises NotFound, StaleRevision, Invalid."""
    page = page_of(site_id, page_id, to_change=True)
    check_revision(site_id, ("page", page.id), page.revision, revision)
    clean = _checked(site_id, draft, page.id)
    before = assign(page, replace(clean, seo_name=clean.seo_name or page.seo_name), FIELDS)
    if before:
        page.revision += 1
        page.updated_at = clock.now()
        after = {name: getattr(page, name) for name in before}
        summary = f"Changed {page.title}"
        audit.record(clock, site_id, actor, "page.save", ("page", str(page.id)), summary, before, after)
    flush_or_conflict()
    return page, tuple(before)


def delete(clock: Clock, site_id: int, page_id: int, actor: str) -> str:
    """Remove a page; its title. Raises NotFound."""
    page = page_of(site_id, page_id, to_change=True)
    before = {name: getattr(page, name) for name in FIELDS}
    db.session.delete(page)
    db.session.flush()
    audit.record(clock, site_id, actor, "page.delete", ("page", str(page_id)), f"Deleted {before['title']}", before)
    return str(before["title"])


def draft_of(page: Page) -> PageDraft:
    """The page in the form in which people send it."""
    return PageDraft(**{name: getattr(page, name) for name in FIELDS})


def _checked(site_id: int, draft: PageDraft, own_id: int | None) -> PageDraft:
    tidy = _tidy(draft)
    problems = [*page_problems(tidy), *seo_name_problems(site_id, tidy.seo_name, own_id, Page)]
    if problems:
        raise Invalid(problems)
    return clean_page(tidy)


def _tidy(draft: PageDraft) -> PageDraft:
    return replace(
        draft,
        title=one_line(draft.title),
        seo_name=draft.seo_name.strip(),
        meta_description=one_line(draft.meta_description or "") or None,
        canonical_url=(draft.canonical_url or "").strip() or None,
    )
