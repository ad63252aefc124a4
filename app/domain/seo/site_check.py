"""Site checks: requested, done by a worker, kept with what they found.

A check takes minutes, and rebuilds wait for the same workers, so it is done in slices: each goes on where the one
before ended, behind what was requested meanwhile. A check changes nothing but its own rows, so a worker that dies loses
only the slice.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from zlib import compress, decompress

from sqlalchemy import ColumnElement, insert, select
from sqlalchemy.orm import aliased

from app.domain.merchandising.shop import Shop, read_shop
from app.domain.search.engine import SearchContext, SearchEngine
from app.domain.seo.crawled_page import Fetch, address_on
from app.domain.seo.landing.pages import LandingPagesOf
from app.domain.seo.models import SiteCheck, SiteCheckFinding
from app.domain.seo.redirects.live_pages import is_landing_folder, live_among
from app.domain.seo.redirects.rules import Reach
from app.domain.seo.redirects.stored_redirects import every_redirect
from app.domain.seo.site_crawl import MEANINGS, Crawl, CrawledShop, Finding, FindingKind, Meaning
from app.domain.seo.sitemap.generator import SitemapGenerator, categories_left_out
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.paging import batched
from app.domain.shared.problems import Conflict
from app.domain.shared.text import numbered
from app.domain.sites import activity
from app.domain.sites.models import Site
from app.domain.work import leases
from app.domain.work.context import read_afresh
from app.domain.work.leases import Claim, join_or_create, perform
from app.domain.work.models import WorkKind, WorkRequested
from app.domain.work.progress import WorkSummary
from app.events import publish
from app.extensions import db

BETWEEN_NOTES = 2.0  # Seconds.
SLICE = 30.0  # Seconds, after which other work has its turn.
MOST_ATTEMPTS = 3
LONGEST_ADDRESS, LONGEST_DETAIL = 2000, 1000


def _forget_progress(_clock: Clock, check: SiteCheck) -> None:
    check.progress = None


SITE_CHECK = WorkKind(
    "site-check",
    SiteCheck,
    lease=timedelta(minutes=1),
    kept=timedelta(days=30),
    most_attempts=MOST_ATTEMPTS,
    lasts_at_most=timedelta(hours=6),
    exhausted=f"The check stopped {MOST_ATTEMPTS} times. See the server log.",
    overdue="It did not finish within six hours. Start it again.",
    on_end=_forget_progress,
)
PagesOf = Callable[[str], Fetch]  # The function that requests pages of the shop at a host.


@dataclass(frozen=True, slots=True)
class FindingGroup:
    """The findings of one kind: `count` of them, the first of which are `listed`."""

    kind: FindingKind
    count: int
    listed: tuple[Finding, ...]

    @property
    def meaning(self) -> Meaning:
        return MEANINGS[self.kind]


@dataclass(frozen=True, slots=True)
class CheckSummary(WorkSummary):
    """A check as its page shows it."""

    findings: int
    unvisited: int
    groups: tuple[FindingGroup, ...]

    @property
    def contradictions(self) -> tuple[FindingGroup, ...]:
        return tuple(group for group in self.groups if group.meaning.is_contradiction)

    @property
    def advice(self) -> tuple[FindingGroup, ...]:
        return tuple(group for group in self.groups if not group.meaning.is_contradiction)

    @property
    def headline(self) -> str:
        if self.has_failed:
            return "The check failed"
        found = sum(group.count for group in self.contradictions)
        if not found:
            return "No problems found"
        return f"{numbered(found, 'problem')} found"

    @property
    def progress(self) -> str:
        if self.total is None:
            return "Reading the sitemap."
        return f"{self.done:,} of {numbered(self.total, 'address', 'addresses')} read."


def request_check(author: Author) -> SiteCheck:
    """Request a site check and return it: the one under way where there is one. Raises Conflict for a staging site,
    whose pages all keep search engines out. Call it in a transaction."""
    site = db.session.get_one(Site, author.site_id)
    if site.staging:
        raise Conflict("This is a staging site, which is hidden from search engines, so there is nothing to check.")
    check, is_new = join_or_create(SiteCheck, author)
    if is_new:
        activity.record(author, "seo.site_check", ("site_check", check.id), "Requested a site check")
    publish(WorkRequested(SITE_CHECK.name, check.id))
    return check


def latest_check(clock: Clock, site_id: int) -> CheckSummary | None:
    newest = select(SiteCheck).where(SiteCheck.site_id == site_id).order_by(SiteCheck.created_at.desc(), SiteCheck.id)
    row = db.session.scalar(newest.limit(1))
    if row is None:
        return None
    shown = CheckSummary.fields_of(row, leases.is_unanswered(SITE_CHECK, clock, row))
    return CheckSummary(**shown, findings=row.findings, unvisited=row.unvisited, groups=_finding_groups(row))


def run_check(context: SearchContext, pages_of: PagesOf, check_id: str) -> bool:
    """Do the next slice of a check; return False when it cannot be claimed. Its outcome is stored in the row."""
    claim = context.commit(lambda: leases.claim(SITE_CHECK, context.clock, SiteCheck.id == check_id))
    return claim is not None and perform(context, claim, lambda: _check_slice(context, pages_of, claim))


def _check_slice(context: SearchContext, pages_of: PagesOf, claim: Claim[SiteCheck]) -> None:
    """Do a slice of a claimed check and store its progress, or its findings at the end. Raises LeaseLost."""
    crawl = _crawl_of(context, pages_of, claim)
    began_at = noted_at = context.clock.monotonic()
    for done, total in crawl.steps():
        now = context.clock.monotonic()
        if now - began_at >= SLICE and done < total:
            progress = compress(json.dumps(crawl.state()).encode(), level=1)
            context.commit(partial(_pause_check, context, claim, progress, done, total))
            return
        if now - noted_at >= BETWEEN_NOTES:
            noted_at = now
            context.commit(partial(leases.renew, context.clock, claim, done=done, total=total))
    context.commit(lambda: _finish_check(context, claim, crawl))


def _pause_check(context: SearchContext, claim: Claim[SiteCheck], progress: bytes, done: int, total: int) -> None:
    """Store the progress of a check and queue the rest of it, behind the work that waits already."""
    leases.renew(context.clock, claim, progress=progress, done=done, total=total, attempts=0)
    leases.release(context.clock, claim)
    publish(WorkRequested(SITE_CHECK.name, claim.key))


def _crawl_of(context: SearchContext, pages_of: PagesOf, claim: Claim[SiteCheck]) -> Crawl:
    """Return the crawl of a check, new or resumed. No snapshot of the database is held after that, since a slice takes
    long."""
    read_afresh()
    shop = read_shop(claim.site_id)
    progress = db.session.scalar(select(SiteCheck.progress).where(SiteCheck.id == claim.key))
    fetch = pages_of(shop.primary_host)
    if progress is not None:
        crawl = Crawl.resumed(json.loads(decompress(progress)), shop.primary_host, fetch)
    else:
        crawl = Crawl(shop_to_crawl(context.engine, context.clock, shop, fetch))
    read_afresh()
    return crawl


def _finish_check(context: SearchContext, claim: Claim[SiteCheck], crawl: Crawl) -> None:
    rows = [
        {
            "site_id": claim.site_id,
            "check_id": claim.key,
            "kind": finding.kind.value,
            "url": finding.url[:LONGEST_ADDRESS],
            "linked_from": finding.linked_from[:LONGEST_ADDRESS],
            "detail": finding.detail[:LONGEST_DETAIL],
        }
        for finding in crawl.findings.kept
    ]
    if rows:
        db.session.execute(insert(SiteCheckFinding), rows)
    counts = {kind.value: count for kind, count in crawl.findings.counts.items()}
    columns = {"findings": sum(counts.values()), "counts": counts, "unvisited": crawl.unvisited}
    leases.finish(context.clock, claim, done=len(crawl.seen), total=len(crawl.seen), **columns)


def _finding_groups(row: SiteCheck) -> tuple[FindingGroup, ...]:
    """Return the groups of a check's findings, in the order of the kinds."""
    stored = select(SiteCheckFinding).where(
        SiteCheckFinding.site_id == row.site_id, SiteCheckFinding.check_id == row.id
    )
    found = db.session.scalars(stored.order_by(SiteCheckFinding.id)).all()
    listed: dict[str, list[Finding]] = {}
    for one in found:
        listed.setdefault(one.kind, []).append(Finding(FindingKind(one.kind), one.url, one.linked_from, one.detail))
    counts = ((kind, row.counts.get(kind.value, 0)) for kind in FindingKind)
    return tuple(FindingGroup(kind, count, tuple(listed.get(kind, ()))) for kind, count in counts if count)


def shop_to_crawl(engine: SearchEngine, clock: Clock, shop: Shop, fetch: Fetch) -> CrawledShop:
    """Return the input of a crawl: the sitemap as it would be written now, and what that leaves out on purpose. Pages
    that the generator rejects should be listed, so they do not count as left out on purpose."""
    generator = SitemapGenerator.of(engine, clock, shop, lambda _path, _reason: None)
    listed = (address_on(shop.primary_host, entry.address) for entry in generator.entries())
    sitemap = [address for address in listed if address is not None]
    left_out: list[str | None] = []
    for node, _ in categories_left_out(shop.tree, generator.counts.of):
        paths = [f"/c/{node.path}", *(page.path for page in generator.pages_of(node).pages)]
        left_out += [address_on(shop.primary_host, path) for path in paths]
    redirects = _redirects_to_check(shop, generator.pages_of)
    return CrawledShop(shop.primary_host, fetch, sitemap, frozenset(filter(None, left_out)), redirects)


def _redirects_to_check(shop: Shop, pages_of: LandingPagesOf) -> dict[str, str]:
    """Return the addresses on the shop to which redirects lead although no product, category or other page of the shop
    is there, by their old paths. Those of a landing rule lead to no page themselves, but to those below."""
    found: dict[str, str] = {}
    for batch in batched(every_redirect(shop.site_id)):
        targets = {old: address_on(shop.primary_host, place.address) for old, place in batch}
        live = live_among(shop, pages_of, {place.path for _, place in batch})
        for old, place in batch:
            address, is_folder = targets[old], place.reach is Reach.BELOW and is_landing_folder(shop.tree, place.path)
            if address is not None and place.path not in live and not is_folder:
                found[old] = address
    return found


def is_superseded() -> ColumnElement[bool]:
    """Return the condition that there is a newer check of the site; the latest is kept, however old it is."""
    newer = aliased(SiteCheck)
    return select(newer.id).where(newer.site_id == SiteCheck.site_id, newer.created_at > SiteCheck.created_at).exists()
