"""`taxonomy recompute`, `taxonomy tasks` and `taxonomy resume`."""

from __future__ import annotations

import time

import click
from flask.cli import AppGroup

from app.cli.author import command_author
from app.cli.refusals import REFUSED, reports_refusals
from app.cli.sites import chosen_site, with_site
from app.domain.taxonomy import tasks
from app.domain.taxonomy.models import TaxonomyTask
from app.domain.taxonomy.tasks.runner import work_off
from app.domain.taxonomy.tasks.summary import summary_of
from app.domain.work.context import read_afresh
from app.operations.work_context import work_context
from app.transaction import transaction

SECONDS_BETWEEN_LOOKS = 0.5

group = AppGroup("taxonomy", help="Work on many products that follows from the taxonomy.")


@group.command("recompute")
@with_site
@click.option("--wait", is_flag=True, help="Do it in this process, or follow who does it, until it is done.")
@reports_refusals
def recompute_command(host: str | None, wait: bool) -> None:
    """Work out anew how complete every product is. The exit status is 1 when what was waited for failed."""
    site_id = chosen_site(host).id
    with transaction():
        task_id = tasks.request(command_author(site_id), tasks.Kind.RECOMPUTE, {}).id
    click.echo(f"Requested task {task_id}")
    if wait:
        _print_task(_finished(site_id, task_id))


@group.command("tasks")
@with_site
@reports_refusals
def tasks_command(host: str | None) -> None:
    """What runs or waits on a site, in the order of requests, and what failed."""
    site_id = chosen_site(host).id
    for task in (*tasks.unfinished(site_id), *tasks.failed(site_id)):
        summary = summary_of(task)
        reason = f"\t{task.error}" if task.error else ""
        click.echo(
            f"{task.id}\t{task.state}\t{summary.title}\t{summary.progress}\trequested by {task.requested_by}{reason}"
        )


@group.command("resume")
@with_site
@click.argument("task_id")
@click.option("--wait", is_flag=True, help="Do it in this process, or follow who does it, until it is done.")
@reports_refusals
def resume_command(host: str | None, task_id: str, wait: bool) -> None:
    """Have a task that failed go on where it was. The exit status is 1 when it has not failed, or failed again."""
    site_id = chosen_site(host).id
    with transaction():
        tasks.resume(command_author(site_id), task_id)
    click.echo(f"Task {task_id} goes on")
    if wait:
        _print_task(_finished(site_id, task_id))


def _finished(site_id: int, task_id: str) -> TaxonomyTask:
    """Return the task once it has ended, whichever process ends it; the site's earlier tasks come first."""
    while True:
        work_off(work_context(), site_id)
        read_afresh()
        task = tasks.task_of(site_id, task_id)
        if task.finished_at is not None:
            return task
        time.sleep(SECONDS_BETWEEN_LOOKS)


def _print_task(task: TaxonomyTask) -> None:
    if task.has_failed:
        click.echo(task.error or "No reason was recorded.", err=True)
        raise SystemExit(REFUSED)
    click.echo(summary_of(task).summary)
