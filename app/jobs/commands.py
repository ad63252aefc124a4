"""`jobs list`, `jobs run` and `scheduler`."""

from __future__ import annotations

import signal
import threading
from types import FrameType

import click
import structlog
from flask import Flask, current_app
from flask.cli import AppGroup, with_appcontext

from app.jobs.background import BackgroundProcess
from app.jobs.scheduled import SCHEDULED, SitesFailed
from app.jobs.scheduler import Scheduler

SECONDS_BETWEEN_LOOKS = 1.0

log = structlog.get_logger()
group = AppGroup("jobs", help="What runs by the clock.")


@group.command("list")
def list_command() -> None:
    """Every scheduled job with its times (cron, UTC) and its meaning."""
    for name, job in SCHEDULED.items():
        click.echo(f"{name}\t{job.times}\t{job.meaning}")


@group.command("run")
@click.argument("name", type=click.Choice([*SCHEDULED]))
def run_command(name: str) -> None:
    """Run a scheduled job now, whatever the time. The exit status is 1 when it failed for a site."""
    try:
        SCHEDULED[name].run()
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
    _look_until(stopping, current_app._get_current_object())  # type: ignore[attr-defined]


def _look_until(stopping: threading.Event, application: Flask) -> None:
    background = BackgroundProcess(application)
    scheduler = Scheduler(background.begin)
    log.info("scheduler_started")
    try:
        while not stopping.is_set():
            scheduler.look()
            stopping.wait(SECONDS_BETWEEN_LOOKS)
    finally:
        background.end()
    log.info("scheduler_stopped")
