"""A shop's sitemap as crawlers read it."""

from __future__ import annotations

from xml.etree import ElementTree

from app import ports
from app.domain.search.engine import SearchContext
from app.domain.seo.sitemap import builds
from app.domain.seo.sitemap.builds import BuildSummary
from app.domain.seo.sitemap.files import LIMITS, Limits
from app.domain.shared.author import Author
from app.domain.work.context import read_afresh
from app.transaction import transaction

NAMESPACE = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


def built(indexing: SearchContext, site_id: int, limits: Limits = LIMITS) -> BuildSummary:
    """The build at its end."""
    with transaction():
        build_id = builds.request_build(Author(site_id, "Mia Moss", indexing.clock)).id
    assert builds.run_build(indexing, ports.sitemaps(), build_id, limits)
    read_afresh()
    return builds.build_of(indexing.clock, site_id, build_id)


def parsed(site_id: int, name: str = "sitemap.xml") -> ElementTree.Element:
    stored = ports.sitemaps().file(site_id, name)
    assert stored is not None, name
    return ElementTree.fromstring(stored.path.read_bytes())


def addresses(site_id: int, name: str = "sitemap.xml") -> list[str]:
    return [loc.text or "" for loc in parsed(site_id, name).iter(f"{NAMESPACE}loc")]


def paths(site_id: int, host: str = "shop.test") -> list[str]:
    return [address.removeprefix(f"https://{host}") for address in addresses(site_id)]


def dates(site_id: int) -> dict[str, str | None]:
    """The dates by address; None where an address has none."""
    found = parsed(site_id).iter(f"{NAMESPACE}url")
    return {str(url.findtext(f"{NAMESPACE}loc")): url.findtext(f"{NAMESPACE}lastmod") for url in found}
