"""Builds of sitemaps: who requested one, and the worker's part.

A build changes nothing but files, which are swapped in at its end, so a worker that dies loses only time: the next
worker to claim the row begins anew.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

import structlog

from app.domain.merchandising.shop import read_shop
from app.domain.search.engine import EngineState, IndexName, SearchContext, SearchEngine
from app.domain.seo.models import SitemapBuild
from app.domain.seo.sitemap.candidates import expected
from app.domain.seo.sitemap.generator import SitemapGenerator
from app.domain.seo.sitemap.store import SitemapGeneration, SitemapStore
from app.domain.seo.sitemap.writing import LIMITS, Limits, WrittenSitemap, write_sitemap
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict
from app.domain.shared.records import existing
from app.domain.shared.text import UNPRINTABLE
from app.domain.sites import audit
from app.domain.sites.models import Site
from app.domain.work import leases
from app.domain.work.context import read_afresh
from app.domain.work.joining import join_or_create
from app.domain.work.kinds import WorkKind, WorkRequested, describe_error
from app.domain.work.leases import Claim, LeaseLost
from app.domain.work.performing import INTERRUPTIONS, perform
from app.events import publish
from app.extensions import db

BETWEEN_NOTES = 5_000  # Addresses.
MOST_WARNINGS = 50
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


def request(author: Author, *, is_noted: bool = False) -> SitemapBuild:
    """Request a new sitemap and return its build: the one under way where there is one. `is_noted` records the request
    in the activity log. Call it in a transaction. Raises NotFound, StagingSite."""
    site = existing(db.session.get(Site, author.site_id), "There is no such site.")
    if site.staging:
        raise StagingSite
    if is_noted:
        audit.record(author, "sitemap.build", ("sitemap", site.primary_host), "Requested a new sitemap")
    build, _ = join_or_create(SitemapBuild, author)
    publish(WorkRequested(SITEMAP.name, build.id))
    return build


def _is_without_search(engine: SearchEngine, site_id: int) -> bool:
    """Whether the shop runs without search on purpose, and so has no landing pages anyway."""
    return engine.status(site_id, IndexName.PRODUCTS).state is EngineState.NOT_SET_UP


def build(context: SearchContext, store: SitemapStore, build_id: str, limits: Limits = LIMITS) -> bool:
    """Do a build; return False when it cannot be claimed. Its outcome is stored in the row; unexpected errors are
    raised as well."""
    claim = context.commit(lambda: leases.claim(SITEMAP, context.clock, SitemapBuild.id == build_id))
    return claim is not None and perform(context, claim, lambda: _logged(context, store, claim, limits))


def _logged(context: SearchContext, store: SitemapStore, claim: Claim[SitemapBuild], limits: Limits) -> None:
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
    left_out, total = LeftOutEntries(), expected(shop)

    def note(done: int) -> None:
        if done % BETWEEN_NOTES == 1:
            context.commit(lambda: leases.renew(context.clock, claim, done=done, total=max(done, total)))

    generation = store.start(claim.site_id, claim.key, claim.fence)
    try:
        generator = SitemapGenerator.of(context.engine, context.clock, shop, left_out.add)
        written = write_sitemap(generation, generator.entries(), shop.primary_host, note, limits)
        was_away = generator.counts.known.is_search_away or generator.misses_counts
        is_search_away = was_away and not _is_without_search(context.engine, claim.site_id)
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
