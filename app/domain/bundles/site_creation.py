"""Sites that are created in the admin: empty, or as copies that a worker fills from another site."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlalchemy import or_, select
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
    """A site as the page of all sites lists it. `copying` is its latest copy from another site, or what was imported or
    transferred into it since."""

    site: Site
    copying: RunSummary | None

    @property
    def is_being_copied(self) -> bool:
        return self.copying is not None and self.copying.is_unfinished

    @property
    def has_failed_copy(self) -> bool:
        return self.copying is not None and (self.copying.has_failed or self.copying.is_refused)


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


def copy_again(author: Author, user_id: int, site_id: int, file: str) -> Site:
    """Request the copy of a site anew whose copy failed, from the same site, and return the copy; `file` as in
    create_site. The copy logs it. Call it in a transaction. Raises Conflict."""
    site, latest = db.session.get(Site, site_id), _latest_copies().get(site_id)
    if site is None or latest is None or not ListedSite(site, runs.summary_of(author.clock, latest)).has_failed_copy:
        raise Conflict("This site has no copy that failed.")
    source = db.session.get_one(Site, latest.source_site_id)
    own = replace(author, site_id=site.id)
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
    latest = _latest_copies()
    return [
        ListedSite(site, runs.summary_of(clock, latest[site.id]) if site.id in latest else None)
        for site in db.session.scalars(query)
    ]


def _latest_copies() -> dict[int, BundleRun]:
    """Return the latest copy of each site by its id. An import or a transfer into a site that succeeded later takes the
    place of a copy: the site is in use."""
    is_copy = (BundleRun.action == Action.TRANSFER.value) & BundleRun.follows.is_(None)
    has_come_later = BundleRun.action.in_((Action.IMPORT.value, Action.TRANSFER.value)) & runs.was_carried_out()
    query = select(BundleRun).where(BundleRun.is_dry_run.is_(False), or_(is_copy, has_come_later))
    return {run.site_id: run for run in db.session.scalars(query.order_by(BundleRun.created_at))}
