"""The group `database`: the shop moves to another database, or back."""

from __future__ import annotations

import click
from flask import current_app
from flask.cli import AppGroup, with_appcontext

from app.cli.command import reports_refusals
from app.config import Config
from app.domain.shared.text import numbered
from app.extensions import db
from app.operations.database_copy.copying import copy_database
from app.operations.database_copy.places import read_target
from app.ports import clock

REHEARSED = "A rehearsal: what was saved since it began is not in that database. Empty it before the real copy."
NEXT = (
    "Set DATABASE_URL to its address, and what else of the settings changes, then start the shop. The old database is "
    "as it was: delete it once all is well, and start no shop on it meanwhile."
)

database_group = AppGroup("database", help="The database of the shop.")


@database_group.command("copy")
@click.option(
    "--to",
    "address",
    envvar="TO_DATABASE_URL",
    required=True,
    help="The other database: postgresql://… or sqlite:////a/new/file. Give one with a password as TO_DATABASE_URL: "
    "other users of the machine can read arguments.",
)
@click.option("--rehearsal", is_flag=True, help="Copy while the shop runs, to see that it works and how long it takes.")
@with_appcontext
@reports_refusals
def copy_command(address: str, rehearsal: bool) -> None:
    """Copy the whole database to an empty one: to PostgreSQL, or back to SQLite.

    The shop must not run. Each table is read back and compared by its values. Broken off, or refused, it leaves the
    other database empty, and is run again. Nothing of the shop's own database is changed.
    """
    config: Config = current_app.config["SHOP"]
    url, begun, now = read_target(address), clock().monotonic(), clock().now()
    db.session.remove()
    db.engine.dispose()
    done = copy_database(config, url, now, rehearsal, lambda name, rows: click.echo(f"{name}\t{rows:,}\tthe same"))
    seconds = clock().monotonic() - begun
    where = url.render_as_string(hide_password=True)
    click.echo(f"Copied {numbered(done.rows, 'row')} of {done.tables} tables to {where} in {seconds:.1f} s.")
    for name in done.left_out:
        click.echo(f"Not copied, since it is no table of the shop: {name}")
    click.echo(REHEARSED if rehearsal else NEXT)
