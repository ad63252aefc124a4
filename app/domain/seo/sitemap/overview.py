"""The sitemap of a site as its page in the admin shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.merchandising.shop import read_shop
from app.domain.search.engine import SearchEngine
from app.domain.search.listings.browsing import category_counts
from app.domain.seo.sitemap.candidates import categories_left_out
from app.domain.seo.sitemap.entries import WHY_LEFT_OUT, LeftOut
from app.domain.seo.sitemap.queries import BuildSummary, recent_builds
from app.domain.seo.sitemap.store import SitemapStore, StoredFile
from app.domain.shared.clock import Clock


@dataclass(frozen=True, slots=True)
class CategoryLeftOut:
    """A category that the sitemap leaves out. `label` is the way to the category in words."""

    node_id: int
    label: str
    reason: LeftOut

    @property
    def why(self) -> str:
        return WHY_LEFT_OUT[self.reason]


@dataclass(frozen=True, slots=True)
class SitemapOverview:
    """The overview of a site's sitemap. `files` are those that crawlers read now, `recent` the last builds, the latest
    first. Where not every category is counted, empty ones may be missing among those left out."""

    host: str
    is_staging: bool
    files: Sequence[StoredFile]
    recent: Sequence[BuildSummary]
    categories_left_out: Sequence[CategoryLeftOut]
    is_every_category_counted: bool

    @property
    def build(self) -> BuildSummary | None:
        return self.recent[0] if self.recent else None

    @property
    def served(self) -> BuildSummary | None:
        """The build that wrote what is served, as far as it is still known."""
        return next((build for build in self.recent if build.is_done), None)


def sitemap_overview(clock: Clock, engine: SearchEngine, store: SitemapStore, site_id: int) -> SitemapOverview:
    shop = read_shop(site_id)
    counts = category_counts(engine, site_id)
    left_out = categories_left_out(shop.tree, lambda node: counts.of(node.id))
    return SitemapOverview(
        host=shop.primary_host,
        is_staging=shop.staging,
        files=store.files(site_id),
        recent=recent_builds(clock, site_id),
        categories_left_out=[CategoryLeftOut(node.id, shop.tree.label(node.id), reason) for node, reason in left_out],
        is_every_category_counted=counts.is_complete,
    )
