"""The jobs that run by the clock, each also by name: `flask jobs run NAME`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import structlog

from app.domain.catalogue import images as pictures
from app.domain.orders import purge as orders_purge
from app.domain.search.counting import purge as counting_purge
from app.domain.search.index import purge as search_purge
from app.domain.search.index import reconcile as reconciling
from app.domain.search.index.indexing import read_afresh
from app.domain.search.trying import replays
from app.domain.shared.problems import DomainError
from app.domain.sites import purge as sites_purge
from app.domain.sites.sites import all_sites
from app.domain.taxonomy.tasks import purge as tasks_purge
from app.extensions import db
from app.jobs.indexing import means
from app.jobs.suggesting import suggest_nightly
from app.ports import clock, images
from app.transaction import transaction

log = structlog.get_logger()

PURGES = (
    search_purge.purge,
    counting_purge.purge,
    replays.purge,
    orders_purge.purge,
    sites_purge.purge,
    tasks_purge.purge,
)


class SitesFailed(DomainError):
    """A job that went over all sites failed for some of them; why stands in the log."""

    def __init__(self, job: str, site_ids: list[int]) -> None:
        super().__init__(f"{job} failed for site {', '.join(map(str, site_ids))}; the log says why.")


@dataclass(frozen=True, slots=True)
class ScheduledJob:
    """`times` is a cron expression, in UTC."""

    times: str
    run: Callable[[], None]
    meaning: str


def reconcile() -> None:
    """Raises SitesFailed."""
    _for_each_site("reconcile", _reconcile)


def _reconcile(site_id: int) -> None:
    report = reconciling.reconcile(means(), site_id)
    if report is not None:
        log.info("reconciled", site=site_id, missing=report.missing, extra=report.extra, stale=report.stale)


def purge() -> None:
    """Raises SitesFailed."""
    with transaction():
        removed = sum(remove(clock()) for remove in PURGES)
    log.info("purged", removed=removed)
    _for_each_site("purge", _discard_pictures)


def _discard_pictures(site_id: int) -> None:
    if went := pictures.discard_unused(clock(), images(), site_id):
        log.info("purged", site=site_id, pictures=went)


def suggest() -> None:
    """Raises SitesFailed."""
    _for_each_site("suggest", suggest_nightly)


def _for_each_site(job: str, work: Callable[[int], None]) -> None:
    """A site that fails does not keep the others from their turn. Raises SitesFailed after the last."""
    failed = []
    for site_id in [site.id for site in all_sites()]:
        try:
            read_afresh()
            work(site_id)
        except Exception:  # A broken index file makes the engine raise nearly anything.
            db.session.rollback()
            failed.append(site_id)
            log.exception("scheduled_job_failed", job=job, site=site_id)
    if failed:
        raise SitesFailed(job, failed)


SCHEDULED: Mapping[str, ScheduledJob] = {
    "reconcile": ScheduledJob("15 3 * * *", reconcile, "Compare the search indexes with the database and repair them."),
    "suggest": ScheduledJob("30 4 * * *", suggest, "Look for synonyms that would help searches that found nothing."),
    "purge": ScheduledJob(
        "45 3 * * *", purge, "Remove what is old: runs, counts, baskets, contacts, sessions, pictures."
    ),
}
