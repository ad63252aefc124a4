"""SEO: sitemaps are built when they are due, and site checks crawl a shop's pages in search of contradictions."""

from __future__ import annotations

from dataclasses import dataclass

from app.domain.seo import site_check
from app.domain.seo.sitemap import builds
from app.domain.shared.author import Author
from app.domain.shared.records import existing
from app.domain.sites.models import Site
from app.extensions import db
from app.operations.work_context import work_context
from app.ports import clock, machine_id, search_engine, sitemaps
from app.transaction import transaction
from app.web.in_process import pages_of

REQUESTED_BY = "the shop itself"
LOOK_EVERY = 5.0  # Seconds.


def build_sitemap(build_id: str) -> bool:
    return builds.run_build(work_context(), sitemaps(), build_id)


def request_sitemap(site_id: int) -> None:
    """Request the sitemap of a site for this machine, unless it is a staging one. A worker builds it: the scheduler
    does one thing after the other."""
    if not _is_staging(site_id):
        _request_build(site_id)


def build_sitemap_by_hand(site_id: int) -> None:
    if not _is_staging(site_id):
        build_sitemap(_request_build(site_id))


def _is_staging(site_id: int) -> bool:
    return existing(db.session.get(Site, site_id), "There is no such site.").staging


def _request_build(site_id: int) -> str:
    with transaction():
        return builds.request_build(Author(site_id, REQUESTED_BY, clock()), machine_id()).id


@dataclass
class SitemapWatch:
    """The watch that requests a build, without waiting for the schedule, for sites that have no sitemap, whose index
    was rebuilt since, or whose sitemap lacks what search would add."""

    looked_at: float | None = None

    def look(self) -> None:
        now = clock().monotonic()
        if self.looked_at is None or now - self.looked_at >= LOOK_EVERY:
            self.looked_at = now
            for site_id in builds.sites_due(clock(), search_engine(), sitemaps(), machine_id()):
                _request_build(site_id)


def check_site(check_id: str) -> bool:
    """Do a slice of a site check; the next is requested at its end."""
    return site_check.run_check(work_context(), pages_of, check_id)


def check_whole_site(check_id: str) -> None:
    """Do all that is left of a site check, where there is no queue for the next slice."""
    while check_site(check_id):
        pass
