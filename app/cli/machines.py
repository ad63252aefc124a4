"""The group `machines`: those that run the shop."""

from __future__ import annotations

import click
from flask.cli import AppGroup, with_appcontext

from app.cli.command import command_author, reports_refusals
from app.domain.machines.machines import all_machines, is_recent
from app.domain.shared.clock import rfc3339
from app.domain.sites import activity
from app.domain.sites.sites import all_sites
from app.domain.system.forgetting import forget_machine, silent_machine
from app.ports import clock, work_kinds
from app.transaction import transaction

machines_group = AppGroup("machines", help="The machines that run the shop.")


@machines_group.command("list")
@with_appcontext
def list_machines_command() -> None:
    """The machines: id, name, whether it runs, since when, last seen, release, search engine, pictures."""
    for machine in all_machines():
        word = "runs" if is_recent(clock(), machine.seen_at) else "silent"
        times = rfc3339(machine.started_at), rfc3339(machine.seen_at)
        facts = machine.release, machine.engine, machine.pictures
        click.echo("\t".join((machine.id, machine.name, word, *times, *facts)))


@machines_group.command("forget")
@click.argument("machine_id")
@with_appcontext
@reports_refusals
def forget_machine_command(machine_id: str) -> None:
    """Forget a machine that will not come back: its alerts end, and so does the work that needs its files."""
    with transaction():
        machine = silent_machine(clock(), machine_id)
        summary = f"Forgot the machine {machine.name}"
        for site in all_sites():
            activity.record(command_author(site.id), "machine.forget", ("machine", machine.id), summary)
        forget_machine(clock(), work_kinds(), machine.id)
    click.echo(f"{summary}.")
