"""`alerts list` and `alerts test`."""

from __future__ import annotations

from contextlib import suppress

import click
from flask.cli import AppGroup
from sqlalchemy.exc import SQLAlchemyError

from app.domain.alerts import messages
from app.domain.alerts.alerts import open_alerts
from app.domain.alerts.causes import Cause
from app.domain.alerts.messages import AlertChannel, Notice, NotSent
from app.domain.shared.clock import rfc3339
from app.domain.sites.sites import all_sites
from app.ports import alert_channels, clock
from app.transaction import transaction

group = AppGroup("alerts", help="What the owner must know.")
NOT_SET_UP = "No delivery is set up: set ALERT_EMAIL or ALERT_WEBHOOK_URL."


@group.command("list")
def list_command() -> None:
    """The open alerts: since when, where, the cause, the subject and the detail. The exit status is 1 when there are
    any."""
    places = [(None, "machine"), *((site.id, site.primary_host) for site in all_sites())]
    lines = [
        f"{rfc3339(alert.first_seen_at)}\t{place}\t{alert.cause}\t{alert.subject}\t{alert.detail}"
        for site_id, place in places
        for alert in open_alerts(site_id)
    ]
    click.echo("\n".join(lines) or "There are no alerts.")
    if lines:
        raise SystemExit(1)


@group.command("test")
def test_command() -> None:
    """Send a test message by every channel that is set up. The exit status is 1 when one did not take it."""
    if not alert_channels():
        raise click.ClickException(NOT_SET_UP)
    if not all([_sends_test(channel) for channel in alert_channels()]):
        raise SystemExit(1)


def _sends_test(channel: AlertChannel) -> bool:
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
