"""Whether a page stands in the sitemap, and why. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from app.domain.seo.indexing_decision import is_cross_domain
from app.domain.seo.sitemap.entries import WHY_LEFT_OUT, LeftOut


@dataclass(frozen=True, slots=True)
class Membership:
    is_listed: bool
    reason: str


@dataclass(frozen=True, slots=True)
class ListedPage:
    """The facts of a page that decide whether a sitemap lists it. `url` is absolute, `canonical` what the page names;
    `left_out` says why its category is left out, where it is one or a landing page of one."""

    url: str
    host: str
    status: int
    is_indexable: bool
    canonical: str
    left_out: LeftOut | None = None


def membership(page: ListedPage) -> Membership:
    """Return whether the sitemap lists a page, as it would be written now."""
    refusal = _refusal(page)
    if refusal:
        return Membership(False, refusal)
    return Membership(True, "The page answers, is indexable and is its own canonical.")


def _refusal(page: ListedPage) -> str:
    if page.status != 200:
        return "Only pages that answer are listed."
    if not page.is_indexable:
        return "Only indexable pages are listed."
    if page.left_out is not None:
        return WHY_LEFT_OUT.get(page.left_out, "The page is excluded from the sitemap.")
    if is_cross_domain(page.canonical, page.host):
        return "Its canonical is on another host."
    if page.canonical == page.url and "?p=" in page.url:
        return "Only the first page of a list is listed."
    if page.canonical != page.url:
        return f"Its canonical is another address: {page.canonical or 'none'}."
    return ""
