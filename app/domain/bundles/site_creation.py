"""Sites that are created in the admin: empty, or as copies that a worker fills from another site."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlalchemy import select
from sqlalchemy.orm import selectinload

from app.domain.bundles import runs
from app.domain.bundles.models import BundleRun
from app.domain.bundles.parts import TRANSFERRED
from app.domain.bundles.runs import Action, RunSummary
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Conflict, Invalid
from app.domain.sites import activity, sites
from app.domain.sites.models import Site
from app.extensions import db


@dataclass(frozen=True, slots=True)
class NewSite:
    """What a form says about a new site. `source_site_id` is the site of which it is a copy, whose currency and time
    zone it takes; None for an empty one."""

    host: str = ""
    name: str = ""
    currency: str = "gbp"
    time_zone: str = sites.TIME_ZONE
    staging: bool = False
    source_site_id: int | None = None


@dataclass(frozen=True, slots=True)
class ListedSite:
    """A site as the page of all sites lists it. `copying` is its latest copy from another site."""

    site: Site
    copying: RunSummary | None

    @property
    def is_being_copied(self) -> bool:
        return self.copying is not None and self.copying.is_unfinished


def create_site(author: Author, user_id: int, new: NewSite, file: str) -> Site:
    """Create a site and return it; a copy is requested, for which a bundle lies in `file` of the folder of bundles
    meanwhile. Both the site of the author and the new one log it. Call it in a transaction. Raises Invalid with the
    problems of all fields."""
    source = None if new.source_site_id is None else db.session.get(Site, new.source_site_id)
    if new.source_site_id is not None and source is None:
        raise Invalid.one("unknown_site", "This site no longer exists. Choose another.", "#/source")
    if source is not None:
        new = replace(new, currency=source.currency, time_zone=source.time_zone)
    site = _make_site(author.clock, new, source)
    summary = f"Created the site {site.name} at {site.primary_host}"
    summary += f" as a copy of {source.primary_host}" if source else ""
    own = replace(author, site_id=site.id)
    for noting in (author, own):
        activity.record(noting, "site.create", ("site", str(site.id)), summary)
    if source is not None:
        runs.request_copy(own, user_id, (source.id, source.primary_host), file, TRANSFERRED)
    return site


def _make_site(clock: Clock, new: NewSite, source: Site | None) -> Site:
    capabilities = source.capabilities if source else sites.CAPABILITIES
    try:
        return sites.create_site(
            clock, new.host, new.name, new.currency, capabilities, time_zone=new.time_zone, staging=new.staging
        )
    except Conflict as taken:
        raise Invalid.one("host_taken", taken.message, "#/host") from taken


def listed_sites(clock: Clock) -> list[ListedSite]:
    """Return all sites by name, each with its latest copy."""
    query = select(Site).options(selectinload(Site.domains)).order_by(Site.name, Site.id)
    copies = select(BundleRun).where(
        BundleRun.action == Action.TRANSFER.value, BundleRun.is_dry_run.is_(False), BundleRun.follows.is_(None)
    )
    latest = {run.site_id: run for run in db.session.scalars(copies.order_by(BundleRun.created_at))}
    return [
        ListedSite(site, runs.summary_of(clock, latest[site.id]) if site.id in latest else None)
        for site in db.session.scalars(query)
    ]
