"""`jobs list`, `jobs run`, `scheduler` and `purge`."""

from __future__ import annotations

import logging
import os
import signal
import threading
from types import FrameType

import click
import structlog
from flask import Flask, current_app
from flask.cli import AppGroup, with_appcontext

from app.domain.retention.purging import Purged
from app.domain.shared.problems import DomainError
from app.domain.sites.activity import COMMAND_LINE
from app.domain.sites.sites import all_sites
from app.jobs import purging
from app.jobs.processes import BackgroundProcess
from app.jobs.scheduled import SCHEDULED, SitesFailed, run_scheduled
from app.jobs.scheduler import Scheduler
from app.operations.instance import CannotStart
from app.operations.machine import admit

SECONDS_BETWEEN_LOOKS = 1.0

log = structlog.get_logger()
group = AppGroup("jobs", help="What runs by the clock.")


@group.command("list")
def list_command() -> None:
    """Every scheduled job with its times (cron, UTC) and its meaning."""
    for name, job in SCHEDULED.items():
        click.echo(f"{name}\t{job.current_times}\t{job.meaning}")


@group.command("run")
@click.argument("name", type=click.Choice([*SCHEDULED]))
def run_command(name: str) -> None:
    """Run a scheduled job now, whatever the time. The exit status is 1 when it failed for a site."""
    try:
        run_scheduled(name, is_by_hand=True)
    except SitesFailed as failed:
        raise click.ClickException(failed.message) from failed
    click.echo(f"{name}: done")


@click.command("scheduler")
@with_appcontext
def scheduler_command() -> None:
    """Run what is due by the clock, and help out where the queue fails, until stopped."""
    stopping = threading.Event()

    def stop(_number: int, _frame: FrameType | None) -> None:
        stopping.set()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    try:
        admit()
    except CannotStart as refused:
        raise click.ClickException(str(refused)) from refused
    _look_until(stopping, current_app._get_current_object())  # type: ignore[attr-defined]


def _look_until(stopping: threading.Event, application: Flask) -> None:
    background, deliveries = BackgroundProcess(application), BackgroundProcess(application)
    scheduler = Scheduler(background.begin, deliveries.begin)
    log.info("scheduler_started")
    try:
        while not stopping.is_set():
            scheduler.look()
            stopping.wait(SECONDS_BETWEEN_LOOKS)
    finally:
        ended = [background.end(), deliveries.end()]
    log.info("scheduler_stopped")
    if not all(ended):
        logging.shutdown()
        os._exit(1)  # At an ordinary exit Python waits for every child, for as long as it takes.


@click.command("purge")
@click.option("--all", "is_confirmed", is_flag=True, help="The clock is right: remove everything that is old, at once.")
@with_appcontext
def purge_command(is_confirmed: bool) -> None:
    """Remove what is old, as every night. The exit status is 1 while the clock is in doubt, which only --all ends."""
    try:
        _purge(is_confirmed)
    except DomainError as refused:
        raise click.ClickException(refused.message) from refused


def _purge(is_confirmed: bool) -> None:
    if is_confirmed:
        _print_purged(purging.purge_all(COMMAND_LINE))
        return
    reading = purging.read_clock()
    if not reading.is_trusted:
        raise click.ClickException(f"{reading.description} If the clock is right, use: purge --all")
    _print_purged([*purging.purge_records(), *(purging.purge_pictures(site.id) for site in all_sites())])


def _print_purged(all_purged: list[Purged]) -> None:
    click.echo(f"{'':24}{'kept':>9}{'old':>9}{'removed':>9}")
    for purged in all_purged:
        click.echo(f"{purged.name:24}{purged.kept:>9,}{purged.old:>9,}{purged.removed:>9,}")
