"""Queries for the pages about the sitemap."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select

from app.domain.search.index.rebuild_outcomes import spoken_duration
from app.domain.seo.models import SitemapBuild
from app.domain.seo.sitemap.builds import SITEMAP
from app.domain.shared.clock import Clock
from app.domain.shared.records import existing, find_record
from app.domain.work import leases
from app.domain.work.progress import WorkSummary
from app.extensions import db

RECENT = 10
SEARCH_AWAY = "Search was unavailable: landing pages are missing and empty categories are listed until the next build."


@dataclass(frozen=True, slots=True)
class BuildSummary(WorkSummary):
    """A build as pages show it. `left_out` counts entries that were rejected; `warnings` names the first of them,
    behind what else is missing."""

    files: int
    left_out: int
    warnings: tuple[str, ...]

    @property
    def took(self) -> str | None:
        """The duration of the build in words, without the wait before it; None before it ended."""
        return spoken_duration(self.finished_at - self.started_at) if self.started_at and self.finished_at else None


def build_of(clock: Clock, site_id: int, build_id: str) -> BuildSummary:
    """Return a build. Raises NotFound."""
    return _summary(clock, existing(find_record(SitemapBuild, site_id, build_id), "There is no such build."))


def latest_build(clock: Clock, site_id: int) -> BuildSummary | None:
    return next(iter(recent_builds(clock, site_id, 1)), None)


def recent_builds(clock: Clock, site_id: int, most: int = RECENT) -> list[BuildSummary]:
    """Return the last builds of a site, the latest first."""
    newest = select(SitemapBuild).where(SitemapBuild.site_id == site_id).order_by(SitemapBuild.created_at.desc())
    return [_summary(clock, row) for row in db.session.scalars(newest.limit(most))]


def _summary(clock: Clock, row: SitemapBuild) -> BuildSummary:
    shown = WorkSummary.fields_of(row, leases.is_unanswered(SITEMAP, clock, row))
    warnings = (SEARCH_AWAY if row.search_was_away else "", *row.warnings.split("\n"))
    return BuildSummary(**shown, files=row.files, left_out=row.left_out, warnings=tuple(filter(None, warnings)))
