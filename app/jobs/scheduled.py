"""The scheduled jobs, each also run by name: `flask jobs run NAME`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial

import structlog
from flask import current_app
from sqlalchemy.exc import SQLAlchemyError

from app.domain.alerts import job_failures
from app.domain.machines.coexistence import on_machine
from app.domain.shared.problems import DomainError
from app.domain.shared.redaction import error_summary
from app.domain.sites.sites import all_sites
from app.domain.system import job_runs
from app.domain.system.facts import JobFacts
from app.domain.system.forgetting import forget_machines
from app.domain.work.context import read_afresh
from app.domain.work.models import describe_error
from app.extensions import db
from app.jobs import machine, orders, pos, purging, relevance, search, seo
from app.operations.storage import note_storage_fault
from app.ports import clock, machine_id, work_kinds
from app.transaction import transaction

log = structlog.get_logger()


class SitesFailed(DomainError):
    """A job that went over all sites failed for some of them."""

    def __init__(self, job: str, reasons: Mapping[int, str]) -> None:
        super().__init__("\n".join(f"{job} failed for site {site_id}: {reasons[site_id]}" for site_id in reasons))
        self.reasons = reasons


@dataclass(frozen=True, slots=True)
class ScheduledJob:
    """A scheduled job. `times` is a cron expression, in UTC, which the setting of app/config named by `setting`
    replaces. Where the schedule only requests work of a worker, `by_hand` does that work when the job is run by name.
    What `run` returns is its report, for the System page. `only_looks`: it changes nothing, so that the page may run it
    at any time. `on_each_machine`: it concerns what lies on the disk of a machine, so each has its own run; all others
    run once for all machines."""

    times: str
    run: Callable[[], object]
    meaning: str
    setting: str | None = None
    by_hand: Callable[[], object] | None = None
    only_looks: bool = False
    on_each_machine: bool = False

    @property
    def current_times(self) -> str:
        return getattr(current_app.config["SHOP"], self.setting) if self.setting else self.times


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
    with transaction():
        gone = forget_machines(clock(), work_kinds(), machine_id())
    if gone:
        log.warning("machines_forgotten", machines=gone)
    run_for_each_site("purge", _purge_pictures)
    return [asdict(purged) for purged in all_purged]


def _purge_pictures(site_id: int) -> None:
    if removed := purging.purge_pictures(site_id).removed:
        log.info("purged", site=site_id, pictures=removed)


def run_for_each_site_by_trusted_clock(job: str, work: Callable[[int], None]) -> None:
    """Do the work for each site; for none while the clock is in doubt. Raises SitesFailed."""
    if purging.is_clock_trusted():
        run_for_each_site(job, work)
    else:
        log.warning("skipped_while_clock_in_doubt", job=job)


def run_for_each_site(job: str, work: Callable[[int], None]) -> None:
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
            with transaction():
                job_failures.note_failure(clock(), job, failed[site_id], site_id)
        else:
            with transaction():
                job_failures.note_success(clock(), job, site_id)
    if failed:
        raise SitesFailed(job, failed)


def run_scheduled(name: str, *, is_by_hand: bool = False) -> None:
    """Run a job and note how it ended, for the alerts. Raises what the job raises."""
    job = SCHEDULED[name]
    machine = machine_of(job)
    noted = on_machine(name, machine)
    _note_start(noted)
    try:
        report = (job.by_hand if is_by_hand and job.by_hand else job.run)()
    except SitesFailed as failed:  # Each site's failure is noted already, but not in the run.
        with transaction():
            job_runs.note_end(clock(), noted, {str(site_id): reason for site_id, reason in failed.reasons.items()})
        raise
    except Exception as error:
        db.session.rollback()
        with transaction():
            job_failures.note_failure(clock(), name, describe_error(error), machine=machine)
            job_runs.note_end(clock(), noted, {job_runs.MACHINE: describe_error(error)})
        raise
    with transaction():
        job_failures.note_success(clock(), name, machine=machine)
        job_runs.note_end(clock(), noted, report=report)


def machine_of(job: ScheduledJob) -> str:
    """Return the id of this machine for a job of which each machine has its own run, else an empty one."""
    return machine_id() if job.on_each_machine else ""


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


SCHEDULED: Mapping[str, ScheduledJob] = {
    "reconcile": ScheduledJob(
        "15 3 * * *",
        partial(run_for_each_site, "reconcile", search.reconcile),
        "Compare the search indexes with the database and repair them.",
    ),
    "count-sales": ScheduledJob(
        "5 * * * *",
        partial(run_for_each_site_by_trusted_clock, "count-sales", orders.count_sales),
        "Count what products sold in 90 days, for the ranking.",
    ),
    "suggest": ScheduledJob(
        "30 4 * * *",
        partial(run_for_each_site_by_trusted_clock, "suggest", relevance.suggest_synonyms_nightly),
        "Look for synonyms that would help searches that found nothing.",
    ),
    "learn": ScheduledJob(
        "0 5 * * *",
        partial(run_for_each_site, "learn", relevance.learn),
        "Learn from what shoppers opened and bought for each search.",
    ),
    "end-comparisons": ScheduledJob(
        "*/5 * * * *",
        relevance.end_comparisons,
        "End comparisons of rankings that have a verdict or are over.",
    ),
    "purge": ScheduledJob(
        "45 3 * * *", purge, "Remove what is old: runs, counts, baskets, contacts, sessions, pictures."
    ),
    "sitemaps": ScheduledJob(
        "0 */3 * * *",
        partial(run_for_each_site, "sitemaps", seo.request_sitemap),
        "Write the sitemaps of all sites but staging ones.",
        on_each_machine=True,
        setting="sitemap_schedule",
        by_hand=partial(run_for_each_site, "sitemaps", seo.build_sitemap_by_hand),
    ),
    "pos-sessions": ScheduledJob("*/5 * * * *", pos.end_sessions, "End the work sessions of tills whose time is up."),
    "pos-reconcile": ScheduledJob(
        "30 3 * * *",
        partial(run_for_each_site, "pos-reconcile", pos.request_reconciliation),
        "Compare the payments of yesterday with those of the payment processor.",
        by_hand=partial(run_for_each_site, "pos-reconcile", pos.reconcile_by_hand),
    ),
    "pos-check": ScheduledJob(
        "* * * * *",
        pos.request_payment_checks,
        "Look at open payments, refunds and events at the payment processor.",
        by_hand=pos.check_due_payments,
    ),
    "submit-baskets": ScheduledJob(
        "* * * * *",
        orders.submit_forgotten_baskets,
        "Submit baskets that were paid ten minutes ago and never submitted.",
    ),
    "check-backup": ScheduledJob(
        "20 * * * *",
        machine.check_backup,
        "Look how old the newest backup is (BACKUP_DIR).",
        only_looks=True,
        on_each_machine=True,
    ),
    "check-certificate": ScheduledJob(
        "40 * * * *",
        machine.check_certificate,
        "Look whether browsers accept the certificate (ALERT_CERTIFICATE_HOST).",
        only_looks=True,
        on_each_machine=True,
    ),
    "measure": ScheduledJob(
        "10 * * * *",
        machine.measure_folders,
        "Measure the folders of the shop.",
        only_looks=True,
        on_each_machine=True,
    ),
}


def job_facts() -> list[JobFacts]:
    """Return the jobs for the System page, as they are set up now."""
    return [JobFacts(name, job.current_times, job.meaning, job.only_looks) for name, job in SCHEDULED.items()]
