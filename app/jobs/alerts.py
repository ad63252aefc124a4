"""The sending of alerts to people by the channels that are set up."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import structlog
from sqlalchemy.exc import SQLAlchemyError

from app.domain.alerts import messages
from app.domain.alerts.alerts import UnwrittenAlert, due_unwritten, note_tried, was_notified, write_unwritten
from app.domain.alerts.messages import AlertChannel, MessageKey, Notice, NotSent
from app.domain.sites.models import Site
from app.domain.work.context import read_afresh
from app.extensions import db
from app.ports import alert_channels, clock
from app.transaction import transaction

log = structlog.get_logger()
Background = Callable[[str, Callable[[], object]], bool]


def look(in_background: Background) -> None:
    """Write and send due alerts; those in the database are sent beside the scheduler, since a server may keep its
    client waiting."""
    write_unwritten(transaction)
    for alert in due_unwritten(clock()):
        _send_unwritten(alert, alert_channels())
    names = [channel.name for channel in alert_channels()]
    for unset in messages.failing_channels() - set(names):
        with transaction():
            messages.note_works(clock(), unset)
    if names and messages.any_due(clock(), names):
        in_background("alert delivery", deliver)


def deliver() -> None:
    channels = {channel.name: channel for channel in alert_channels()}
    with transaction():
        messages.write_messages(clock(), list(channels))
    read_afresh()
    for key in messages.due(clock(), list(channels)):
        _send(channels[key.channel], key)


def _send(channel: AlertChannel, key: MessageKey) -> None:
    with transaction():
        notice = messages.claim(clock(), key, _host_of)
    if notice is None:
        return
    reason = _reason_not_sent(channel, notice)
    with transaction():
        if reason is None:
            messages.note_sent(clock(), key)
        else:
            messages.note_failure(clock(), key, reason)


def _send_unwritten(alert: UnwrittenAlert, channels: Sequence[AlertChannel]) -> None:
    """Send an alert that is not in the database, and not in the background: only this process has it in memory, and
    must know that it was sent."""
    waiting = [channel for channel in channels if alert.missing is None or channel.name in alert.missing]
    if _stands_in_database(alert):
        waiting = []
    seen = alert.first_seen_at, alert.last_seen_at
    notice_id = f"unwritten-{alert.cause.key}-{alert.first_seen_at.timestamp():.0f}"
    notice = Notice(notice_id, alert.cause, None, alert.subject, alert.detail, *seen)
    missing = frozenset(channel.name for channel in waiting if _reason_not_sent(channel, notice) is not None)
    if channels:
        note_tried(clock(), alert, missing)


def _stands_in_database(alert: UnwrittenAlert) -> bool:
    """Whether the messages about an alert were written to the database before; a database that takes no row may still
    be read."""
    try:
        return was_notified(clock().now(), alert.cause, alert.subject, alert.machine)
    except SQLAlchemyError:
        db.session.rollback()
        return False


def _reason_not_sent(channel: AlertChannel, notice: Notice) -> str | None:
    try:
        channel.send(notice)
    except Exception as error:
        reason = str(error) if isinstance(error, NotSent) else f"An unexpected error ({type(error).__name__})."
        log.warning("alert_not_sent", channel=channel.name, id=notice.id, error=reason)
        return reason
    return None


def _host_of(site_id: int) -> str:
    return db.session.get_one(Site, site_id).primary_host
