"""`taxonomy recompute`, `taxonomy tasks` and `taxonomy resume`."""

from __future__ import annotations

import time

import click
from flask.cli import AppGroup

from app.cli.sites import chosen_site
from app.cli.telling import ACTOR, REFUSED, telling
from app.domain.search.index.indexing import read_afresh
from app.domain.taxonomy import tasks
from app.domain.taxonomy.models import TaxonomyTask
from app.domain.taxonomy.task_kinds import FAILED
from app.domain.taxonomy.tasks.running import Means, work_off
from app.domain.taxonomy.tasks.story import story_of
from app.ports import clock
from app.transaction import transaction

SECONDS_BETWEEN_LOOKS = 0.5

group = AppGroup("taxonomy", help="Work on many products that follows from the taxonomy.")
with_site = click.option("--site", "host", help="Host of the site; may be left out where there is one site only.")


@group.command("recompute")
@with_site
@click.option("--wait", is_flag=True, help="Do it in this process, or follow who does it, until it is done.")
@telling
def recompute_command(host: str | None, wait: bool) -> None:
    """Work out anew how complete every product is. The exit status is 1 when what was waited for failed."""
    site_id = chosen_site(host).id
    with transaction():
        task_id = tasks.request(clock(), site_id, tasks.Kind.RECOMPUTE, {}, ACTOR).id
    click.echo(f"Asked for task {task_id}")
    if wait:
        _tell(_finished(site_id, task_id))


@group.command("tasks")
@with_site
@telling
def tasks_command(host: str | None) -> None:
    """What runs or waits on a site, in the order in which it was asked for, and what failed."""
    site_id = chosen_site(host).id
    for task in (*tasks.unfinished(site_id), *tasks.failed(site_id)):
        told = story_of(task)
        reason = f"\t{task.error}" if task.error else ""
        click.echo(f"{task.id}\t{task.state}\t{told.title}\t{told.progress}\tasked for by {task.requested_by}{reason}")


@group.command("resume")
@with_site
@click.argument("task_id")
@click.option("--wait", is_flag=True, help="Do it in this process, or follow who does it, until it is done.")
@telling
def resume_command(host: str | None, task_id: str, wait: bool) -> None:
    """Have a task that failed go on where it was. The exit status is 1 when it has not failed, or failed again."""
    site_id = chosen_site(host).id
    with transaction():
        tasks.resume(clock(), site_id, task_id, ACTOR)
    click.echo(f"Task {task_id} goes on")
    if wait:
        _tell(_finished(site_id, task_id))


def _finished(site_id: int, task_id: str) -> TaxonomyTask:
    """The task at its end, whoever brings it there; the site's earlier ones come first."""
    while True:
        work_off(Means(clock(), transaction), site_id)
        read_afresh()
        task = tasks.task_of(site_id, task_id)
        if task.finished_at is not None:
            return task
        time.sleep(SECONDS_BETWEEN_LOOKS)


def _tell(task: TaxonomyTask) -> None:
    if task.state == FAILED:
        click.echo(task.error or "No reason was noted.", err=True)
        raise SystemExit(REFUSED)
    click.echo(story_of(task).summary)
