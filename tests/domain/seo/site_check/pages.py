"""A shop of a few made pages, to crawl."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from app.domain.seo.crawled_page import Fetched
from app.domain.seo.indexing_decision import INDEX
from app.domain.seo.site_crawl import Crawl, CrawledShop, FindingKind

HOST = "shop.test"


def page(*links: str, title: str = "", canonical: str | None = "", robots: str = INDEX, more: str = "") -> Fetched:
    """A page whose links are addresses or whole elements; `canonical` empty is its own, None is none."""
    anchors = "".join(link if link.startswith("<") else f'<a href="{link}">there</a>' for link in links)
    named = "" if canonical is None else f'<link rel="canonical" href="https://{HOST}{canonical or "{own}"}">'
    head = f'<title>{title or "{own}"}</title><meta name="robots" content="{robots}">{named}'
    return Fetched(200, robots=robots, text=f"<html><head>{head}{more}</head><body><h1>It</h1>{anchors}</body></html>")


def redirect(location: str) -> Fetched:
    return Fetched(301, location=location)


def crawl(
    pages: Mapping[str, Fetched],
    sitemap: tuple[str, ...] = ("/",),
    left_out: tuple[str, ...] = (),
    redirects: Mapping[str, str] = MappingProxyType({}),
) -> Crawl:
    """Walk through a shop whose other pages are not there."""

    def fetch(address: str) -> Fetched:
        found = pages.get(address, Fetched(404))
        return Fetched(found.status, found.location, found.robots, found.text.replace("{own}", address))

    walk = Crawl(CrawledShop(HOST, fetch, sitemap, left_out, redirects))
    for _ in walk.steps():
        pass
    return walk


def found(walk: Crawl) -> list[tuple[FindingKind, str]]:
    return [(finding.kind, finding.url) for finding in walk.findings.kept]
