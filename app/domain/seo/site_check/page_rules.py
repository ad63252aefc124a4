"""The contradictions that a page shows by itself. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from app.domain.seo.fetching import Fetched
from app.domain.seo.indexing_decision import INDEX
from app.domain.seo.site_check.findings import Finding, FindingKind
from app.domain.seo.site_check.page_reading import ReadPage
from app.domain.seo.structured_data_check import data_problems

REFUSALS = frozenset(("noindex", "none"))


def is_indexable(robots: str) -> bool:
    """Whether directives let search engines list a page; without any they may."""
    return not _directives(robots) & REFUSALS


def page_findings(address: str, answer: Fetched, page: ReadPage) -> Iterator[Finding]:
    """Yield the findings about a single page that answered."""
    if page.is_cut_off:
        yield Finding(FindingKind.BROKEN_HTML, address)
    if problem := robots_problem(answer.robots, page.robots):
        yield Finding(FindingKind.ROBOTS_DISAGREE, address, detail=problem)
    if len(page.canonicals) > 1:
        yield Finding(FindingKind.SEVERAL_CANONICALS, address, detail=", ".join(page.canonicals[:5]))
    if not page.title:
        yield Finding(FindingKind.MISSING_TITLE, address)
    if page.headings != 1:
        yield Finding(FindingKind.HEADING_COUNT, address, detail=f"{page.headings} H1 elements.")
    for text in page.data:
        for problem in data_problems(text):
            yield Finding(FindingKind.INVALID_DATA, address, detail=problem)


def robots_problem(header: str, written: list[str]) -> str:
    """Return how the robots directives of an answer's header and its page disagree, empty where they do not."""
    if len(written) > 1:
        return f"The page has {len(written)} robots directives."
    page = written[0] if written else INDEX
    if (_directives(header) or _directives(INDEX)) == _directives(page):
        return ""
    return f"The page says “{page}”, X-Robots-Tag says “{header or 'nothing'}”."


def _directives(robots: str) -> frozenset[str]:
    return frozenset(part.strip().lower() for part in robots.split(",") if part.strip())
