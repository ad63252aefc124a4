"""Builds of sitemaps: requested or due, done by a worker, and shown with what they left out.

A build changes nothing but files, which are swapped in at its end, so a worker that dies loses only time: the next
worker to claim the row begins anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog
from sqlalchemy import exists, func, or_, select

from app.domain.machines.machines import running_machines
from app.domain.merchandising.shop import read_shop
from app.domain.search.engine import EngineState, IndexName, SearchContext, SearchEngine
from app.domain.search.index.rebuild_outcomes import spoken_duration
from app.domain.search.listings.browsing import category_counts
from app.domain.search.models import RebuildRun
from app.domain.seo.models import SitemapBuild
from app.domain.seo.sitemap.entries import WHY_LEFT_OUT, LeftOut
from app.domain.seo.sitemap.files import LIMITS, Limits, WrittenSitemap, write_sitemap
from app.domain.seo.sitemap.generator import SitemapGenerator, categories_left_out, expected_entries
from app.domain.seo.sitemap.store import FIRST_FILE, SitemapGeneration, SitemapStore, StoredFile
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Conflict
from app.domain.shared.records import existing, find_record
from app.domain.shared.text import UNPRINTABLE
from app.domain.sites import activity
from app.domain.sites.models import Site
from app.domain.work import leases
from app.domain.work.context import read_afresh
from app.domain.work.leases import INTERRUPTIONS, Claim, LeaseLost, join_or_create, perform
from app.domain.work.models import UNFINISHED, State, WorkKind, WorkRequested, describe_error
from app.domain.work.progress import WorkSummary
from app.events import publish
from app.extensions import db

BETWEEN_NOTES = 5_000  # Addresses.
MOST_WARNINGS = 50
RECENT = 10
RETRIED_AFTER = timedelta(minutes=5)
SEARCH_AWAY = "Search was unavailable: landing pages are missing and empty categories are listed until the next build."
REPLACEMENT = "\ufffd"  # The character that Unicode has for what cannot be shown.
SITEMAP = WorkKind(
    "sitemap",
    SitemapBuild,
    lease=timedelta(seconds=30),
    kept=timedelta(days=30),
    most_attempts=5,
    lasts_at_most=timedelta(hours=1),
    exhausted="Every worker stopped before it was done. The previous sitemap is still served.",
    overdue="It did not finish within an hour. The previous sitemap is still served.",
)

log = structlog.get_logger()


class StagingSite(Conflict):
    """The error that a staging site has no sitemap."""

    code = "staging_site"

    def __init__(self) -> None:
        super().__init__("A staging site has no sitemap: search engines are kept out of it.")


@dataclass
class LeftOutEntries:
    """The number of entries that the generator rejected, and the first of them with the reason, one a line."""

    count: int = 0
    lines: list[str] = field(default_factory=list)

    def add(self, path: str, reason: str) -> None:
        self.count += 1
        if len(self.lines) < MOST_WARNINGS:
            self.lines.append(f"{UNPRINTABLE.sub(REPLACEMENT, path[:200])}: {reason}")


def request_build(author: Author, machine: str = "", *, is_noted: bool = False) -> SitemapBuild:
    """Request a new sitemap on a machine and return its build: the one under way where there is one. `is_noted` records
    the request in the activity log. Call it in a transaction. Raises NotFound, StagingSite."""
    site = existing(db.session.get(Site, author.site_id), "There is no such site.")
    if site.staging:
        raise StagingSite
    if is_noted:
        activity.record(author, "sitemap.build", ("sitemap", site.primary_host), "Requested a new sitemap")
    build, _ = join_or_create(SitemapBuild, author, SITEMAP.may_run_on(machine), machine=machine)
    publish(WorkRequested(SITEMAP.name, build.id, build.machine))
    return build


def request_build_everywhere(author: Author, own: str) -> None:
    """Request a new sitemap, as a person does, on this machine, whose id is `own`, and on all others that run: each
    serves its own files. Call it in a transaction. Raises NotFound, StagingSite."""
    request_build(author, own, is_noted=True)
    for machine in running_machines(author.clock):
        if machine.id != own:
            request_build(author, machine.id)


def run_build(context: SearchContext, store: SitemapStore, build_id: str, limits: Limits = LIMITS) -> bool:
    """Do a build; return False when it cannot be claimed here. Its outcome is stored in the row; unexpected errors are
    raised as well."""
    which = SitemapBuild.id == build_id, SITEMAP.may_run_on(context.machine)
    claim = context.commit(lambda: leases.claim(SITEMAP, context.clock, *which))
    return claim is not None and perform(context, claim, lambda: _build_logged(context, store, claim, limits))


def _build_logged(context: SearchContext, store: SitemapStore, claim: Claim[SitemapBuild], limits: Limits) -> None:
    try:
        _build(context, store, claim, limits)
    except (LeaseLost, *INTERRUPTIONS):
        raise
    except Exception as error:
        log.warning("sitemap_not_built", site=claim.site_id, reason=describe_error(error))
        raise


def _build(context: SearchContext, store: SitemapStore, claim: Claim[SitemapBuild], limits: Limits) -> None:
    """Build a claimed sitemap. Raises LeaseLost, StagingSite, EmptySitemap, and OSError where the files cannot be
    written."""
    read_afresh()
    shop = read_shop(claim.site_id)
    if shop.staging:
        raise StagingSite
    left_out, total = LeftOutEntries(), expected_entries(shop)

    def note(done: int) -> None:
        if done % BETWEEN_NOTES == 1:
            context.commit(lambda: leases.renew(context.clock, claim, done=done, total=max(done, total)))

    generation = store.start(claim.site_id, claim.key, claim.fence)
    try:
        generator = SitemapGenerator.of(context.engine, context.clock, shop, left_out.add)
        written = write_sitemap(generation, generator.entries(), shop.primary_host, note, limits)
        was_away = generator.counts.known.is_search_away or generator.misses_counts
        state = context.engine.status(claim.site_id, IndexName.PRODUCTS).state if was_away else None
        # A shop that runs without search on purpose has no landing pages anyway.
        is_search_away = was_away and state is not EngineState.NOT_SET_UP
        context.commit(lambda: _publish(context, claim, generation, written, left_out, is_search_away))
    except BaseException:
        generation.discard()
        raise
    log.info("sitemap_built", site=claim.site_id, addresses=written.addresses, left_out=left_out.count)


def _publish(
    context: SearchContext,
    claim: Claim[SitemapBuild],
    generation: SitemapGeneration,
    written: WrittenSitemap,
    left_out: LeftOutEntries,
    is_search_away: bool,
) -> None:
    """Publish a sitemap and finish its build while holding the claim. Raises LeaseLost."""
    leases.hold(context.clock, claim)
    generation.publish()
    leases.finish(
        context.clock,
        claim,
        done=written.addresses,
        total=written.addresses,
        files=written.files,
        left_out=left_out.count,
        warnings="\n".join(left_out.lines),
        search_was_away=is_search_away,
    )


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


def latest_build(clock: Clock, site_id: int, machine: str = "") -> BuildSummary | None:
    return next(iter(recent_builds(clock, site_id, machine, 1)), None)


def recent_builds(clock: Clock, site_id: int, machine: str = "", most: int = RECENT) -> list[BuildSummary]:
    """Return the last builds of a site on a machine, the latest first."""
    which = SitemapBuild.site_id == site_id, SITEMAP.may_run_on(machine)
    newest = select(SitemapBuild).where(*which).order_by(SitemapBuild.created_at.desc())
    return [_summary(clock, row) for row in db.session.scalars(newest.limit(most))]


def _summary(clock: Clock, row: SitemapBuild) -> BuildSummary:
    fields = WorkSummary.fields_of(row, leases.is_unanswered(SITEMAP, clock, row))
    warnings = (SEARCH_AWAY if row.search_was_away else "", *row.warnings.split("\n"))
    return BuildSummary(**fields, files=row.files, left_out=row.left_out, warnings=tuple(filter(None, warnings)))


@dataclass(frozen=True, slots=True)
class _BuildableSite:
    """A site that may be built now, with the dates of its last build and its last rebuild of the index."""

    id: int
    built_at: datetime | None
    rebuilt_at: datetime | None
    met_no_search: bool

    @property
    def is_outdated(self) -> bool:
        return self.built_at is None or (self.rebuilt_at is not None and self.built_at < self.rebuilt_at)


def sites_due(clock: Clock, engine: SearchEngine, store: SitemapStore, machine: str = "") -> list[int]:
    """Return the sites, staging ones left out, that have had no build on this machine yet, or none since their index
    was last rebuilt as a whole, or, some minutes after their last one, have no files or miss what search would add. One
    that is being indexed waits for that, since the counts of its categories depend on it."""
    now = clock.now()
    sites = _buildable_sites(now, machine)
    return [site.id for site in sites if site.is_outdated or _is_incomplete(site, now, engine, store)]


def is_request_due(clock: Clock, site_id: int, machine: str = "") -> bool:
    """Whether a site without files on this machine needs a request for them: no build is under way, and none was
    requested within RETRIED_AFTER, since another would fail, too."""
    now = clock.now()
    is_recent = SitemapBuild.created_at.between(now - RETRIED_AFTER, now)
    here = SitemapBuild.site_id == site_id, SITEMAP.may_run_on(machine)
    pending = select(SitemapBuild.id).where(*here, or_(SitemapBuild.state.in_(UNFINISHED), is_recent))
    return db.session.scalar(pending.limit(1)) is None


def _buildable_sites(now: datetime, machine: str) -> list[_BuildableSite]:
    """Return the sites for which neither index nor, on this machine, sitemap is being built, with the dates of both.
    Dates in the future, of a clock that was wrong, do not count: they would stay the newest until then."""
    builds = (SitemapBuild.site_id == Site.id) & SITEMAP.may_run_on(machine)
    rebuilds = RebuildRun.site_id == Site.id
    newest = select(func.max(SitemapBuild.created_at)).where(builds, SitemapBuild.created_at <= now)
    built_at = newest.correlate(Site).scalar_subquery()
    rebuilt = select(func.max(RebuildRun.finished_at)).where(
        rebuilds, RebuildRun.state == State.DONE.value, RebuildRun.finished_at <= now
    )
    met_no_search = exists().where(
        builds,
        SitemapBuild.search_was_away,
        SitemapBuild.created_at == built_at,
    )
    is_indexing = exists().where(rebuilds, RebuildRun.state.in_(UNFINISHED))
    is_building = exists().where(builds, SitemapBuild.state.in_(UNFINISHED))
    query = select(Site.id, built_at, rebuilt.correlate(Site).scalar_subquery(), met_no_search)
    rows = db.session.execute(query.where(~Site.staging, ~is_indexing, ~is_building).order_by(Site.id))
    return [_BuildableSite(*row) for row in rows]


def _is_incomplete(site: _BuildableSite, now: datetime, engine: SearchEngine, store: SitemapStore) -> bool:
    if site.built_at is None or site.built_at >= now - RETRIED_AFTER:
        return False
    if store.file(site.id, FIRST_FILE) is None:
        return True
    return site.met_no_search and engine.status(site.id, IndexName.PRODUCTS).state is EngineState.HEALTHY


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
    """The overview of a site's sitemap on a machine. `files` are those that crawlers read now, `recent` the last
    builds, the latest first. Where not every category is counted, empty ones may be missing among those left out."""

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


def sitemap_overview(
    clock: Clock, engine: SearchEngine, store: SitemapStore, site_id: int, machine: str = ""
) -> SitemapOverview:
    shop = read_shop(site_id)
    counts = category_counts(engine, site_id)
    left_out = categories_left_out(shop.tree, lambda node: counts.of(node.id))
    return SitemapOverview(
        host=shop.primary_host,
        is_staging=shop.staging,
        files=store.files(site_id),
        recent=recent_builds(clock, site_id, machine),
        categories_left_out=[CategoryLeftOut(node.id, shop.tree.label(node.id), reason) for node, reason in left_out],
        is_every_category_counted=counts.is_complete,
    )
