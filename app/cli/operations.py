"""`backup`, `restore`, `mcp` and the group `alerts`: the running of the installation."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import click
from flask import current_app
from flask.cli import AppGroup, with_appcontext
from sqlalchemy.exc import SQLAlchemyError

from app.cli.command import reports_refusals
from app.config import Config
from app.domain.alerts import messages
from app.domain.alerts.alerts import open_alerts
from app.domain.alerts.causes import Cause
from app.domain.alerts.messages import AlertChannel, Notice, NotSent
from app.domain.machines.machines import label_of
from app.domain.shared.clock import rfc3339
from app.domain.sites.sites import all_sites
from app.extensions import db
from app.operations.backups.making import make_backup
from app.operations.backups.manifest import SECRET_KEY, Manifest
from app.operations.backups.restoring import Restored, check_backup, restore
from app.operations.instance import picture_place
from app.operations.machine import check_alone
from app.ports import alert_channels, clock, erasures
from app.transaction import transaction

COUNTED = ("products", "orders", "users")
alerts_group = AppGroup("alerts", help="What the owner must know.")
NOT_SET_UP = "No delivery is set up: set ALERT_EMAIL or ALERT_WEBHOOK_URL."


@click.command("backup")
@click.argument("path", type=click.Path(path_type=Path), required=False)
@click.option("--keep", type=click.IntRange(1), help="In a folder: how many of the dated backups stay.")
@with_appcontext
@reports_refusals
def backup_command(path: Path | None, keep: int | None) -> None:
    """Copy the database, the pictures and the secret key that the shop made itself to PATH, while the shop runs.

    PATH is a new file, or a folder, in which the file gets a name with the date; without it, the folder of
    BACKUP_DIR, whose newest backup the alert looks at. Not in it: search indexes,
    sitemaps and the queue, which are made anew, the settings of the environment, and pictures where those are in a
    bucket (PICTURES=s3).
    """
    config: Config = current_app.config["SHOP"]
    target = path or config.backup_dir
    if target is None:
        raise click.UsageError("Name a file or a folder, or set BACKUP_DIR.")
    made = make_backup(config, erasures(), config.instance_folder, target, clock().now(), keep)
    click.echo(f"Backed up to {made.path}: {_summarize(made.manifest)}")
    if made.manifest.pictures_elsewhere:
        click.echo(f"The pictures are in {made.manifest.pictures_elsewhere} and not in this backup.")
    if made.missing_list:
        click.echo(f"The list of erasures is not in it ({made.missing_list}).", err=True)
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

    PATH is a file, or a folder, of which the newest is taken. The shop must not run, on no machine: one that was
    seen within the last minute is waited for. The search indexes are rebuilt by the shop itself once it runs again.
    """
    config: Config = current_app.config["SHOP"]
    now = clock().now()
    if not check:
        check_alone()
    db.session.remove()
    db.engine.dispose()
    done = check_backup(config, path) if check else restore(config, erasures(), config.instance_folder, path, now)
    click.echo(f"{done.path} is whole: {_summarize(done.manifest)}")
    _print_differences(done, config)
    if not check:
        click.echo("Restored. Start the shop: it rebuilds its search indexes, which takes minutes where it is large.")
        if _has_erasures():
            click.echo(
                "People were erased here: run personal-data erase --again before, the backup may bring them back."
            )
    for place in done.aside:
        click.echo(f"What was there before: {place}")


def _has_erasures() -> bool:
    """Whether the list of erasures names anybody; it is supposed where it cannot be read."""
    try:
        return bool(erasures().lines())
    except OSError:
        return True


def _print_differences(done: Restored, config: Config) -> None:
    if done.is_migrated:
        click.echo(f"It was made by version {done.manifest.version}; its database is brought up to date.")
    if done.manifest.pictures_elsewhere:
        click.echo(f"It has no pictures: they were in {done.manifest.pictures_elsewhere}. Those here stay as they are.")
    elif done.manifest.pictures and picture_place(config):
        click.echo(f"Its pictures become files here, and not those of {picture_place(config)}: see `pictures copy`.")
    if not done.has_same_key and SECRET_KEY not in done.manifest.files:
        click.echo("It was made with another SECRET_KEY: everybody has to sign in again.")


def _summarize(manifest: Manifest) -> str:
    counts = [f"{manifest.contents.rows.get(name, 0):,} {name}" for name in COUNTED]
    sites = ", ".join(manifest.contents.sites) or "no site"
    numbers = ", ".join([*counts, f"{len(manifest.pictures):,} files of pictures"])
    return f"{sites}; {numbers}; {manifest.bytes / 1e6:,.1f} MB; of {manifest.created_at:%Y-%m-%d %H:%M} (UTC)."


@alerts_group.command("list")
def list_alerts_command() -> None:
    """The open alerts: since when, where, the cause, the subject and the detail. The exit status is 1 when there are
    any."""
    places = [(None, "machine"), *((site.id, site.primary_host) for site in all_sites())]
    alerts = [(place, alert) for site_id, place in places for alert in open_alerts(site_id)]
    for place, alert in alerts:
        where = label_of(alert.machine) or place
        click.echo(f"{rfc3339(alert.first_seen_at)}\t{where}\t{alert.cause}\t{alert.subject}\t{alert.detail}")
    if alerts:
        raise SystemExit(1)
    click.echo("There are no alerts.")


@alerts_group.command("test")
def test_alerts_command() -> None:
    """Send a test message by every channel that is set up. The exit status is 1 when one did not take it."""
    if not alert_channels():
        raise click.ClickException(NOT_SET_UP)
    if not all([_send_test(channel) for channel in alert_channels()]):
        raise SystemExit(1)


def _send_test(channel: AlertChannel) -> bool:
    now = clock().now()
    words = "Alerts reach you by this way."
    try:
        channel.send(Notice("test", Cause.DELIVERY_FAILED, None, "", words, now, now, is_test=True))
    except NotSent as error:
        click.echo(f"{channel.name}: {error}", err=True)
        return False
    click.echo(f"{channel.name}: sent")
    with suppress(SQLAlchemyError), transaction():  # The test is of the channel, also while the database is away.
        messages.note_works(clock(), channel.name)
    return True


@click.command("mcp")
@click.option(
    "--token",
    envvar="SHOP_MCP_TOKEN",
    required=True,
    help="An access token of a user. Give it as SHOP_MCP_TOKEN: other users of the machine can read arguments.",
)
@with_appcontext
@reports_refusals
def mcp_command(token: str) -> None:
    """Serve the tools to an AI agent that starts this command and speaks MCP with it. The agent acts as the user of the
    token, on the token's site."""
    from app.mcp.registry import caller_of  # What this loads, and the SDK below, takes half a second.

    caller_of(token.strip())
    from app.mcp import stdio

    stdio.serve(current_app._get_current_object(), token.strip())  # type: ignore[attr-defined]
