"""The scheduled jobs, each also run by name: `flask jobs run NAME`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

import structlog
from flask import current_app
from sqlalchemy.exc import SQLAlchemyError

from app.domain.alerts import job_failures
from app.domain.orders.sales import count_sales
from app.domain.search.index import reconcile as reconciling
from app.domain.shared.problems import DomainError
from app.domain.shared.redaction import error_summary
from app.domain.sites.sites import all_sites
from app.domain.system import job_runs
from app.domain.system.facts import JobFacts
from app.domain.work.context import read_afresh
from app.domain.work.models import describe_error
from app.extensions import db
from app.jobs import bundles, pos_sessions, purging
from app.jobs.baskets import submit_forgotten
from app.jobs.learning import learn as learn_site
from app.jobs.measuring import measure
from app.jobs.payments import check_due, reconcile_by_hand, request_checks, request_reconciliation
from app.jobs.safeguards import check_backup, check_certificate
from app.jobs.sitemaps import build_by_hand, request_by_schedule
from app.jobs.suggesting import suggest_nightly
from app.operations.storage import note_storage_fault
from app.operations.work_context import work_context
from app.ports import clock
from app.transaction import transaction

log = structlog.get_logger()


class SitesFailed(DomainError):
    """A job that went over all sites failed for some of them."""

    def __init__(self, job: str, reasons: Mapping[int, str]) -> None:
        super().__init__("\n".join(f"{job} failed for site {site_id}: {reasons[site_id]}" for site_id in reasons))
        self.reasons = reasons


@dataclass(frozen=True, slots=True)
class ScheduledJob:
    """A scheduled job. `times` is a cron expression, in UTC, which the setting of app/config.py named by `setting`
    replaces. Where the schedule only requests work of a worker, `by_hand` does that work when the job is run by name.
    What `run` returns is its report, for the System page. `only_looks`: it changes nothing, so that the page may run it
    at any time."""

    times: str
    run: Callable[[], object]
    meaning: str
    setting: str | None = None
    by_hand: Callable[[], object] | None = None
    only_looks: bool = False

    @property
    def current_times(self) -> str:
        return getattr(current_app.config["SHOP"], self.setting) if self.setting else self.times


def reconcile() -> None:
    """Reconcile the index of each site. Raises SitesFailed."""
    _for_each_site("reconcile", _reconcile)


def _reconcile(site_id: int) -> None:
    report = reconciling.reconcile(work_context(), site_id)
    if report is not None:
        log.info("reconciled", site=site_id, missing=report.missing, extra=report.extra, stale=report.stale)


def purge() -> list[dict[str, object]] | None:
    """Purge old records, and return what was kept and removed; None while the clock is in doubt. Raises SitesFailed."""
    reading = purging.read_clock()
    if not reading.is_trusted:
        log.warning("purge_skipped", clock=str(reading.wall_at), steady=str(reading.steady_at))
        return None
    with transaction():
        job_failures.end_unrepeated(clock())
    all_purged = purging.purge_records()
    log.info("purged", **{purged.name: purged.removed for purged in all_purged if purged.removed})
    _for_each_site("purge", _purge_pictures)
    bundles.sweep()
    return [asdict(purged) for purged in all_purged]


def _purge_pictures(site_id: int) -> None:
    if removed := purging.purge_pictures(site_id).removed:
        log.info("purged", site=site_id, pictures=removed)


def _is_clock_in_doubt(job: str) -> bool:
    if purging.is_clock_trusted():
        return False
    log.warning("skipped_while_clock_in_doubt", job=job)
    return True


def count_all_sales() -> None:
    """Count the sales of each site, so that the index follows them; none while the clock is in doubt. Raises
    SitesFailed."""
    if _is_clock_in_doubt("count-sales"):
        return
    _for_each_site("count-sales", _count_sales)


def _count_sales(site_id: int) -> None:
    with transaction():
        changed = count_sales(clock(), site_id)
    if changed:
        log.info("sales_counted", site=site_id, changed=changed)


def suggest() -> None:
    """Find the nightly synonym suggestions of each site; none while the clock is in doubt. Raises SitesFailed."""
    if _is_clock_in_doubt("suggest"):
        return
    _for_each_site("suggest", suggest_nightly)


def learn() -> None:
    """Learn from the clicks of each site's shoppers; what was learned stays while the clock is in doubt. Raises
    SitesFailed."""
    _for_each_site("learn", learn_site)


def request_sitemaps() -> None:
    """Request the sitemap of each site. Raises SitesFailed."""
    _for_each_site("sitemaps", request_by_schedule)


def build_sitemaps() -> None:
    """Build the sitemap of each site. Raises SitesFailed."""
    _for_each_site("sitemaps", build_by_hand)


def request_reconciliations() -> None:
    """Request the reconciliation of each site's payments. Raises SitesFailed."""
    _for_each_site("pos-reconcile", request_reconciliation)


def reconcile_payments() -> None:
    """Reconcile the payments of each site. Raises SitesFailed."""
    _for_each_site("pos-reconcile", reconcile_by_hand)


def _for_each_site(job: str, work: Callable[[int], None]) -> None:
    """Do the work for each site; a site that fails does not keep the others from their turn. Raises SitesFailed after
    the last."""
    failed: dict[int, str] = {}
    for site_id in [site.id for site in all_sites()]:
        try:
            read_afresh()
            work(site_id)
        except Exception as error:
            db.session.rollback()
            failed[site_id] = describe_error(error)
            is_expected = isinstance(error, DomainError)
            if not note_storage_fault(error):
                log.error(
                    "scheduled_job_failed", job=job, site=site_id, reason=failed[site_id], exc_info=not is_expected
                )
            _note_failure(job, error, site_id)
        else:
            _note_success(job, site_id)
    if failed:
        raise SitesFailed(job, failed)


def run_scheduled(name: str, *, is_by_hand: bool = False) -> None:
    """Run a job and note how it ended, for the alerts. Raises what the job raises."""
    job = SCHEDULED[name]
    _note_start(name)
    try:
        report = (job.by_hand if is_by_hand and job.by_hand else job.run)()
    except SitesFailed as failed:  # Each site's failure is noted already, but not in the run.
        with transaction():
            job_runs.note_end(clock(), name, {str(site_id): reason for site_id, reason in failed.reasons.items()})
        raise
    except Exception as error:
        db.session.rollback()
        with transaction():
            job_failures.note_failure(clock(), name, describe_error(error))
            job_runs.note_end(clock(), name, {job_runs.MACHINE: describe_error(error)})
        raise
    with transaction():
        job_failures.note_success(clock(), name)
        job_runs.note_end(clock(), name, report=report)


def look(name: str) -> None:
    """Run a job that only looks, as the System page requests."""
    if SCHEDULED[name].only_looks:
        run_scheduled(name)


def _note_start(name: str) -> None:
    """Note the start of a run. A failure to do so is only logged: on a full disk, the job may be the one that makes
    room."""
    try:
        with transaction():
            job_runs.note_start(clock(), name)
    except SQLAlchemyError as error:
        db.session.rollback()
        if not note_storage_fault(error):
            log.warning("job_start_not_noted", job=name, error=error_summary(error))


def _note_failure(job: str, error: Exception, site_id: int) -> None:
    with transaction():
        job_failures.note_failure(clock(), job, describe_error(error), site_id)


def _note_success(job: str, site_id: int) -> None:
    with transaction():
        job_failures.note_success(clock(), job, site_id)


SCHEDULED: Mapping[str, ScheduledJob] = {
    "reconcile": ScheduledJob("15 3 * * *", reconcile, "Compare the search indexes with the database and repair them."),
    "count-sales": ScheduledJob("5 * * * *", count_all_sales, "Count what products sold in 90 days, for the ranking."),
    "suggest": ScheduledJob("30 4 * * *", suggest, "Look for synonyms that would help searches that found nothing."),
    "learn": ScheduledJob("0 5 * * *", learn, "Learn from what shoppers opened and bought for each search."),
    "purge": ScheduledJob(
        "45 3 * * *", purge, "Remove what is old: runs, counts, baskets, contacts, sessions, pictures."
    ),
    "sitemaps": ScheduledJob(
        "0 */3 * * *",
        request_sitemaps,
        "Write the sitemaps of all sites but staging ones.",
        setting="sitemap_schedule",
        by_hand=build_sitemaps,
    ),
    "pos-sessions": ScheduledJob(
        "*/5 * * * *", pos_sessions.follow_all, "End the work sessions of tills whose time is up."
    ),
    "pos-reconcile": ScheduledJob(
        "30 3 * * *",
        request_reconciliations,
        "Compare the payments of yesterday with those of the payment processor.",
        by_hand=reconcile_payments,
    ),
    "pos-check": ScheduledJob(
        "* * * * *",
        request_checks,
        "Look at open payments, refunds and events at the payment processor.",
        by_hand=check_due,
    ),
    "submit-baskets": ScheduledJob(
        "* * * * *", submit_forgotten, "Submit baskets that were paid ten minutes ago and never submitted."
    ),
    "check-backup": ScheduledJob(
        "20 * * * *", check_backup, "Look how old the newest backup is (BACKUP_DIR).", only_looks=True
    ),
    "check-certificate": ScheduledJob(
        "40 * * * *",
        check_certificate,
        "Look whether browsers accept the certificate (ALERT_CERTIFICATE_HOST).",
        only_looks=True,
    ),
    "measure": ScheduledJob("10 * * * *", measure, "Measure the folders of the shop.", only_looks=True),
}


def job_facts() -> list[JobFacts]:
    """Return the jobs for the System page, as they are set up now."""
    return [JobFacts(name, job.current_times, job.meaning, job.only_looks) for name, job in SCHEDULED.items()]
