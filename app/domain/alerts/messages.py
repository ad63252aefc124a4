"""Messages about alerts: the notice that is sent, the port to the channels that take it to people, and the outbox: one
message by each channel when an alert was raised, one when it has ended. Each is sent at least once, or given up.
Everything here is called in a transaction, and nothing is sent within one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from sqlalchemy import ColumnElement, delete, func, or_, select, update

from app.domain.alerts.alerts import REOPENS_WITHIN, end_alert, open_about, raise_alert
from app.domain.alerts.causes import BY_KEY, Cause
from app.domain.alerts.models import Alert, AlertMessage
from app.domain.machines.machines import label_of
from app.domain.shared.clock import Clock, rfc3339
from app.extensions import db

FIRST_PAUSE = timedelta(minutes=1)  # After a failure; it doubles with each further one.
FREQUENT_ATTEMPTS = 8  # Over two hours.
LONGEST_PAUSE = timedelta(hours=6)  # Between later attempts.
ALARMING_ATTEMPTS = 3
NEWS_FOR = timedelta(days=1)  # An alert that ended earlier is no news any more, as for a channel that is set up later.


class NotSent(Exception):
    """The channel did not take the notice; the message is the reason, for the owner."""


@dataclass(frozen=True, slots=True)
class Notice:
    """The notice that an alert was raised or has ended, or a test. `id` is the same however often the notice is sent;
    `site` is the shop's host, None for the whole shop or a machine; `machine` is the name of that machine, where there
    are several."""

    id: str
    cause: Cause
    site: str | None
    subject: str
    detail: str
    first_seen_at: datetime
    last_seen_at: datetime
    ended_at: datetime | None = None
    is_test: bool = False
    machine: str | None = None

    @property
    def event(self) -> str:
        if self.is_test:
            return "alert_test"
        return "alert_ended" if self.ended_at else "alert_raised"

    @property
    def sentence(self) -> str:
        return "This is a test of the shop’s alerts; nothing is wrong." if self.is_test else self.cause.sentence

    @property
    def title(self) -> str:
        """One line, for the subject of a mail."""
        prefix = "Test" if self.is_test else "Over" if self.ended_at else self.cause.severity.value.capitalize()
        return f"{prefix}: {self.sentence} ({self.site or self.machine or 'whole server'})"

    @property
    def text(self) -> str:
        """The body of a mail."""
        about = f"{self.subject}: {self.detail}" if self.subject else self.detail
        times = f"First seen {rfc3339(self.first_seen_at)}, last seen {rfc3339(self.last_seen_at)}."
        news = f"Resolved {rfc3339(self.ended_at)}." if self.ended_at else f"What to do: {self.cause.advice}"
        paragraphs = [self.sentence, about] if self.is_test else [self.sentence, about, news, times]
        return "\n\n".join(paragraphs) + "\n"

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "event": self.event,
            "cause": self.cause.key,
            "severity": self.cause.severity.value,
            "site": self.site,
            "machine": self.machine,
            "subject": self.subject,
            "sentence": self.sentence,
            "detail": self.detail,
            "advice": self.cause.advice,
            "firstSeenAt": rfc3339(self.first_seen_at),
            "lastSeenAt": rfc3339(self.last_seen_at),
            "endedAt": rfc3339(self.ended_at) if self.ended_at else None,
        }


class AlertChannel(Protocol):
    @property
    def name(self) -> str: ...

    def send(self, notice: Notice) -> None:
        """Send a notice within half a minute at most. Raises NotSent."""
        ...


@dataclass(frozen=True, slots=True)
class MessageKey:
    alert_id: int
    channel: str
    is_about_end: bool


def any_due(clock: Clock, channels: Sequence[str]) -> bool:
    """Whether `write_messages` has something to write, or `due` returns anything."""
    news = select(Alert.id).where(_is_new(clock.now()) | _has_newly_ended(clock.now())).limit(1)
    return db.session.scalar(news) is not None or bool(due(clock, channels))


def write_messages(clock: Clock, channels: Sequence[str]) -> None:
    """Write the messages about alerts that have none yet."""
    now = clock.now()
    for alert in _locked_alerts(_is_new(now)):
        alert.notified_at = now
        _add_messages(now, alert, channels, is_about_end=False)
    for alert in _locked_alerts(_has_newly_ended(now)):
        alert.end_notified_at = now
        _add_messages(now, alert, channels, is_about_end=True)


def due(clock: Clock, channels: Sequence[str]) -> list[MessageKey]:
    """Return the messages to be sent now, the older alerts first. Those of channels that are no longer set up, and of
    causes that are no longer known, are left out and deleted with their alert."""
    columns = AlertMessage.alert_id, AlertMessage.channel, AlertMessage.is_about_end
    known = select(*columns).join(Alert).where(AlertMessage.channel.in_(channels), Alert.cause.in_(BY_KEY))
    order = AlertMessage.alert_id, AlertMessage.is_about_end, AlertMessage.channel
    return [MessageKey(*row) for row in db.session.execute(known.where(_may_be_sent(clock.now())).order_by(*order))]


def claim(clock: Clock, key: MessageKey, host_of: Callable[[int], str]) -> Notice | None:
    """Claim a message and return its notice; None where another process has claimed it. Unless `note_sent` follows, it
    is tried again after a pause."""
    now = clock.now()
    query = select(AlertMessage).where(*_is_message(key), _may_be_sent(now)).with_for_update(skip_locked=True)
    message = db.session.scalar(query.execution_options(populate_existing=True))
    if message is None:
        return None
    message.next_try_at = now + _pause_before(message.attempts + 1)
    message.attempts += 1
    return _notice(key, db.session.get_one(Alert, key.alert_id), host_of)


def _pause_before(attempt: int) -> timedelta:
    return FIRST_PAUSE * 2 ** (attempt - 1) if attempt < FREQUENT_ATTEMPTS else LONGEST_PAUSE


def _notice(key: MessageKey, alert: Alert, host_of: Callable[[int], str]) -> Notice:
    return Notice(
        id=f"{alert.id}-{'ended' if key.is_about_end else 'raised'}",
        cause=BY_KEY[alert.cause],
        site=None if alert.site_id is None else host_of(alert.site_id),
        subject=alert.subject,
        detail=alert.detail,
        first_seen_at=alert.first_seen_at,
        last_seen_at=alert.last_seen_at,
        ended_at=alert.ended_at if key.is_about_end else None,
        machine=label_of(alert.machine),
    )


def note_sent(clock: Clock, key: MessageKey) -> None:
    db.session.execute(delete(AlertMessage).where(*_is_message(key)))
    if key.channel in failing_channels():
        note_works(clock, key.channel)


def note_works(clock: Clock, channel: str) -> None:
    """End the alert about a channel that works, or is no longer set up, and make the messages that have waited long for
    it due now."""
    end_alert(clock, Cause.DELIVERY_FAILED, subject=channel)
    waiting = AlertMessage.channel == channel, AlertMessage.attempts >= ALARMING_ATTEMPTS
    db.session.execute(update(AlertMessage).where(*waiting).values(next_try_at=clock.now()))


def failing_channels() -> set[str]:
    return {alert.subject for alert in open_about(Cause.DELIVERY_FAILED)}


def note_failure(clock: Clock, key: MessageKey, reason: str) -> None:
    """Raise an alert when a message has failed several times, and give it up in the end: once its alert has ended,
    unless it is the last by its channel, which is tried on so that the channel is known to work again."""
    attempts = db.session.scalar(select(AlertMessage.attempts).where(*_is_message(key))) or 0
    if attempts >= FREQUENT_ATTEMPTS and _is_old_news(key):
        db.session.execute(delete(AlertMessage).where(*_is_message(key)))
    if attempts >= ALARMING_ATTEMPTS:
        raise_alert(clock, Cause.DELIVERY_FAILED, reason, subject=key.channel)


def _is_old_news(key: MessageKey) -> bool:
    by_channel = select(func.count()).select_from(AlertMessage).where(AlertMessage.channel == key.channel)
    has_ended = db.session.get_one(Alert, key.alert_id).ended_at is not None
    return has_ended and (db.session.scalar(by_channel) or 0) > 1


def _add_messages(now: datetime, alert: Alert, channels: Sequence[str], is_about_end: bool) -> None:
    """Add a message for every channel; the alert about a channel that fails goes to the others alone."""
    own = alert.subject if alert.cause == Cause.DELIVERY_FAILED.key else None
    for channel in channels:
        if channel != own:
            message = AlertMessage(alert_id=alert.id, channel=channel, is_about_end=is_about_end, next_try_at=now)
            db.session.add(message)


def _is_new(now: datetime) -> ColumnElement[bool]:
    is_news = Alert.ended_at.is_(None) | (Alert.ended_at > now - NEWS_FOR)
    return Alert.notified_at.is_(None) & is_news & Alert.cause.in_(BY_KEY)


def _has_newly_ended(now: datetime) -> ColumnElement[bool]:
    """Return the condition of alerts that ended lately, can no longer be reopened, and whose beginning was announced
    but not their end."""
    over = Alert.ended_at.between(now - NEWS_FOR, now - REOPENS_WITHIN)
    return Alert.notified_at.is_not(None) & Alert.end_notified_at.is_(None) & over & Alert.cause.in_(BY_KEY)


def _locked_alerts(which: ColumnElement[bool]) -> Sequence[Alert]:
    query = select(Alert).where(which).order_by(Alert.id).with_for_update(skip_locked=True)
    return db.session.scalars(query.execution_options(populate_existing=True)).all()


def _may_be_sent(now: datetime) -> ColumnElement[bool]:
    """Return the condition that the pause of a message is over, or was set while the clock was ahead."""
    return or_(AlertMessage.next_try_at <= now, AlertMessage.next_try_at > now + LONGEST_PAUSE)


def _is_message(key: MessageKey) -> tuple[ColumnElement[bool], ...]:
    return (
        AlertMessage.alert_id == key.alert_id,
        AlertMessage.channel == key.channel,
        AlertMessage.is_about_end == key.is_about_end,
    )
