"""The jobs that run by the clock, each also by name: `flask jobs run NAME`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import structlog

from app.domain.catalogue import images as pictures
from app.domain.search import purge as search_purge
from app.domain.search import reconcile as reconciling
from app.domain.sites import purge as sites_purge
from app.domain.sites.sites import all_sites
from app.jobs.indexing import means
from app.ports import clock, images
from app.transaction import transaction

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class ScheduledJob:
    """`times` is a cron expression, in UTC."""

    times: str
    run: Callable[[], None]
    meaning: str


def reconcile() -> None:
    for site_id in [site.id for site in all_sites()]:
        report = reconciling.reconcile(means(), site_id)
        if report is not None:
            log.info("reconciled", site=site_id, missing=report.missing, extra=report.extra, stale=report.stale)


def purge() -> None:
    with transaction():
        removed = search_purge.purge(clock()) + sites_purge.purge(clock())
    files = sum(pictures.discard_unused(clock(), images(), site.id) for site in all_sites())
    log.info("purged", removed=removed, pictures=files)


SCHEDULED: Mapping[str, ScheduledJob] = {
    "reconcile": ScheduledJob("15 3 * * *", reconcile, "Compare the search indexes with the database and repair them."),
    "purge": ScheduledJob(
        "45 3 * * *", purge, "Remove old runs, reports, sessions, sign-ins and unused pictures."
    ),
}
