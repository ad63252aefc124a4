"""`backup PATH` and `restore PATH`: the whole installation as one file."""

from __future__ import annotations

from pathlib import Path

import click
from flask import current_app
from flask.cli import with_appcontext

from app.backups.making import make_backup
from app.backups.manifest import SECRET_KEY, Manifest
from app.backups.restoring import Restored, check_backup, restore
from app.cli.refusals import reports_refusals
from app.config import Config
from app.extensions import db
from app.ports import clock

COUNTED = ("products", "orders", "users")


@click.command("backup")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--keep", type=click.IntRange(1), help="In a folder: how many of the dated backups stay.")
@with_appcontext
@reports_refusals
def backup_command(path: Path, keep: int | None) -> None:
    """Copy the database, the pictures and the secret key that the shop made itself to PATH, while the shop runs.

    PATH is a new file, or a folder, in which the file gets a name with the date. Not in it: search indexes,
    sitemaps and the queue, which are made anew, and the settings of the environment.
    """
    config: Config = current_app.config["SHOP"]
    made = make_backup(config, config.instance_folder, path, clock().now(), keep)
    click.echo(f"Backed up to {made.path}: {_summary(made.manifest)}")
    if made.manifest.is_of_later_release:
        click.echo("Its database is of a later release, and only that one can restore it.")
    if SECRET_KEY in made.manifest.files:
        click.echo("It holds the secret key of the shop: only this user can read the file, keep it so.")
    for removed in made.removed:
        click.echo(f"Removed {removed}")


@click.command("restore")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--check", is_flag=True, help="Change nothing, only verify the backup.")
@with_appcontext
@reports_refusals
def restore_command(path: Path, check: bool) -> None:
    """Put the backup at PATH in the place of what is there, which is moved aside and kept.

    PATH is a file, or a folder, of which the newest is taken. The shop must not run. The search indexes are
    rebuilt by the shop itself once it runs again.
    """
    config: Config = current_app.config["SHOP"]
    now = clock().now()
    db.session.remove()
    db.engine.dispose()
    done = check_backup(config, path) if check else restore(config, config.instance_folder, path, now)
    click.echo(f"{done.path} is whole: {_summary(done.manifest)}")
    _say_differences(done)
    if not check:
        click.echo("Restored. Start the shop: it rebuilds its search indexes, which takes minutes where it is large.")
        if config.erasure_list.exists():
            click.echo(
                "People were erased here: run personal-data erase --again before, the backup may bring them back."
            )
    for place in done.aside:
        click.echo(f"What was there before: {place}")


def _say_differences(done: Restored) -> None:
    if done.is_migrated:
        click.echo(f"It was made by version {done.manifest.version}; its database is brought up to date.")
    if not done.has_same_key and SECRET_KEY not in done.manifest.files:
        click.echo("It was made with another SECRET_KEY: everybody has to sign in again.")


def _summary(manifest: Manifest) -> str:
    counts = [f"{manifest.contents.rows.get(name, 0):,} {name}" for name in COUNTED]
    sites = ", ".join(manifest.contents.sites) or "no site"
    numbers = ", ".join([*counts, f"{len(manifest.pictures):,} files of pictures"])
    return f"{sites}; {numbers}; {manifest.bytes / 1e6:,.1f} MB; of {manifest.created_at:%Y-%m-%d %H:%M} (UTC)."
