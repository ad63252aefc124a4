"""The list of records with a retention period, and the jobs that purge them: every night, or now on request."""

from __future__ import annotations

from datetime import datetime, timedelta

import structlog
from flask import current_app
from sqlalchemy import func, select

from app.config import Config
from app.domain.alerts.models import Alert
from app.domain.bundles.runs import BUNDLE_RUN
from app.domain.catalogue import product_images as pictures
from app.domain.catalogue.product_images import UPLOAD_WORK
from app.domain.orders import purge as orders
from app.domain.orders.mails import ORDER_MAIL
from app.domain.pos import purge as pos
from app.domain.pos.journal_mails import JOURNAL_MAIL
from app.domain.pos.receipts import RECEIPT_MAIL
from app.domain.pos.reconciliation.nightly import RECONCILIATION
from app.domain.relevance import learning, synonym_suggestions
from app.domain.relevance.judgements.runs import JUDGEMENT
from app.domain.relevance.replays import REPLAY
from app.domain.retention import clock_trust
from app.domain.retention.clock_trust import ClockReading, MeasuredTime
from app.domain.retention.purging import Purged, Retention, note_blocked_purge, purge
from app.domain.search.index import runs as search
from app.domain.search.models import JobSlot
from app.domain.search_statistics.counting import purge as counting
from app.domain.seo import crawler_hits as crawlers
from app.domain.seo.site_check import SITE_CHECK, is_superseded
from app.domain.seo.sitemap.builds import SITEMAP
from app.domain.shared.author import Author
from app.domain.sites import activity
from app.domain.sites import purge as sites
from app.domain.sites.account_mails import ACCOUNT_MAIL
from app.domain.sites.models import AuditEntry
from app.domain.sites.sites import all_sites
from app.domain.system.backup_runs import BACKUP
from app.domain.taxonomy.tasks.queue import TASK
from app.domain.work import leases
from app.extensions import db
from app.ports import clock, images
from app.transaction import transaction

ENDED_ALERTS_KEPT = timedelta(days=90)

RETENTIONS: tuple[Retention, ...] = (
    *sites.RETENTIONS,
    *orders.RETENTIONS,
    *pos.RETENTIONS,
    *counting.RETENTIONS,
    *search.RETENTIONS,
    *synonym_suggestions.RETENTIONS,
    *learning.RETENTIONS,
    crawlers.RETENTION,
    leases.retention(RECONCILIATION, "reconciliations of payments"),
    leases.retention(RECEIPT_MAIL, "receipts that were mailed"),
    leases.retention(JOURNAL_MAIL, "mails of the journal"),
    leases.retention(ORDER_MAIL, "mails about orders"),
    leases.retention(ACCOUNT_MAIL, "mails to users"),
    leases.retention(REPLAY, "replays"),
    leases.retention(JUDGEMENT, "figures of judgement lists"),
    leases.retention(SITE_CHECK, "site checks", is_superseded()),
    leases.retention(UPLOAD_WORK, "uploads of pictures"),
    leases.retention(SITEMAP, "builds of sitemaps"),
    leases.retention(BUNDLE_RUN, "imports and exports"),
    leases.retention(BACKUP, "backups requested in the admin"),
    leases.retention(TASK, "taxonomy tasks"),  # What they did and what products lost stays in the activity log.
    Retention("ended alerts", Alert, dated=Alert.ended_at, is_old=lambda now: Alert.ended_at < now - ENDED_ALERTS_KEPT),
)

log = structlog.get_logger()


def read_clock(measured: MeasuredTime | None = None) -> ClockReading:
    """Read the clock and store the reading. `measured` is the time that this process measured since its last reading,
    None where it made none."""
    config: Config = current_app.config["SHOP"]
    with transaction():
        return clock_trust.read_clock(clock(), measured, config.clock_tolerance, _newest_record)


def is_clock_trusted() -> bool:
    """Whether what dated records say may be computed anew. While the clock is in doubt, what was computed before
    stays: by a clock far ahead there is nothing of the last days, and what was learned and counted would be lost."""
    config: Config = current_app.config["SHOP"]
    return clock_trust.is_trusted(clock(), config.clock_tolerance, _newest_record)


def _newest_record() -> datetime | None:
    newest = [db.session.scalar(select(func.max(dated))) for dated in (AuditEntry.at, JobSlot.claimed_at)]
    return max((at for at in newest if at is not None), default=None)


def purge_records(is_confirmed: bool = False) -> list[Purged]:
    with transaction():
        return purge(clock(), RETENTIONS, is_confirmed)


def purge_pictures(site_id: int, is_confirmed: bool = False) -> Purged:
    purged = pictures.discard_unused(clock(), images(), site_id, is_confirmed)
    with transaction():
        note_blocked_purge(clock(), purged, site_id)
    return purged


def purge_all(actor: str) -> list[Purged]:
    """Remove everything that is old, because `actor` says that the clock is right."""
    with transaction():
        clock_trust.trust_clock(clock())
        for site in all_sites():
            summary = "Confirmed that the clock is right, and purged everything that is old"
            activity.record(Author(site.id, actor, clock()), "purge.all", ("site", str(site.id)), summary)
        purged = purge(clock(), RETENTIONS, is_confirmed=True)
    return [*purged, *(purge_pictures(site.id, is_confirmed=True) for site in all_sites())]
