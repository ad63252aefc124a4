"""The groups `taxonomy` and `pictures`: work on many products that follows from the taxonomy, and uploaded pictures."""

from __future__ import annotations

import time

import click
from flask.cli import AppGroup

from app.cli.command import REFUSED, chosen_site, command_author, reports_refusals, with_site
from app.domain.catalogue.picture_copy import CopyReport, copy_pictures
from app.domain.personal_data.erasure_list import copy_erasures
from app.domain.shared.problems import Invalid, NotFound
from app.domain.shared.text import numbered
from app.domain.taxonomy import tasks
from app.domain.taxonomy.models import TaxonomyTask
from app.domain.taxonomy.tasks.runner import work_off
from app.domain.taxonomy.tasks.summary import summary_of
from app.domain.work.context import read_afresh
from app.operations.work_context import work_context
from app.ports import erasure_lists, images, picture_storages
from app.transaction import transaction

SECONDS_BETWEEN_LOOKS = 0.5

taxonomy_group = AppGroup("taxonomy", help="Work on many products that follows from the taxonomy.")
pictures_group = AppGroup("pictures", help="Uploaded pictures.")


@taxonomy_group.command("recompute")
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
        _print_task(_finished_task(site_id, task_id))


@taxonomy_group.command("tasks")
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


@taxonomy_group.command("resume")
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
        _print_task(_finished_task(site_id, task_id))


def _finished_task(site_id: int, task_id: str) -> TaxonomyTask:
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


@pictures_group.command("resize")
@with_site
@reports_refusals
def resize_command(host: str | None) -> None:
    """Make the smaller forms of pictures that were uploaded before the shop made them. Until then the next larger form
    is sent. It may be broken off and begun again."""
    site_id, store = chosen_site(host).id, images()
    files = [file for file, _ in store.files(site_id)]
    made = [_add_forms(site_id, file) for file in files]
    click.echo(f"{numbered(len(files), 'picture')}, {numbered(sum(made), 'smaller form')} made.")


def _add_forms(site_id: int, file: str) -> int:
    """Make the smaller forms of a picture and return how many; 0 where it was removed meanwhile or cannot be read, so
    that the others are still made."""
    try:
        return images().add_forms(site_id, file)
    except (Invalid, NotFound) as error:
        click.echo(f"{file}: {error.message}", err=True)
        return 0


@pictures_group.command("copy")
@click.option("--to", "target", type=click.Choice(["files", "s3"]), required=True, help="Where the copies go.")
@click.option("--thorough", is_flag=True, help="Compare the contents of files that are there already, too.")
@reports_refusals
def copy_command(target: str, thorough: bool) -> None:
    """Copy the pictures of all sites and the list of erasures from files to S3-compatible storage, or back, while the
    shop runs.

    What is copied is read back and compared. Broken off, it goes on where it was when it is run again. Nothing is
    removed from where it comes. Set PICTURES and restart the shop then, and run it once more for what was
    uploaded meanwhile. The exit status is 1 when pictures were damaged before: they are named and not copied.
    """
    storages = picture_storages()
    if "s3" not in storages:
        raise Invalid.one("not_set_up", "No S3-compatible storage is set up: set S3_BUCKET and the other S3_ settings.")
    source = "files" if target == "s3" else "s3"
    erased = _copy_erasures(source, target)
    report = copy_pictures(storages[source], storages[target], _note_copied, thorough)
    size = f"{report.copied_bytes / 1e6:,.1f} MB"
    click.echo(f"{numbered(report.copied, 'file')} copied ({size}), {report.present:,} present already.")
    if erased:
        click.echo(f"{numbered(erased, 'erasure')} copied to the list in {erasure_lists()[target].place}.")
    for damaged in report.damaged:
        click.echo(f"{damaged}: its contents do not match its name, so it is damaged and was not copied.", err=True)
    if report.damaged:
        raise SystemExit(REFUSED)


def _copy_erasures(source: str, target: str) -> int:
    """Copy the erasures that the other list lacks, and return how many. Raises Invalid."""
    lists = erasure_lists()
    try:
        return copy_erasures(lists[source].lines(), lists[target])
    except OSError as error:
        raise Invalid.one("list_not_copied", f"The list of erasures cannot be copied: {error.strerror}.") from error


def _note_copied(report: CopyReport) -> None:
    click.echo(f"{numbered(report.files, 'file')} so far, {report.copied:,} copied")
