"""Raising and ending alerts. At most one is open for a site (None: the whole machine), a cause and a subject.

Everything here is called in a transaction; outside one, or while the database is away, app/domain/alerts/unwritten.py
keeps the alerts. Details are read by the owner and sent by mail: they hold nothing personal and no secret.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, select, update

from app.domain.alerts.causes import Cause
from app.domain.alerts.models import Alert
from app.domain.shared.clock import Clock
from app.domain.shared.upserting import upsert
from app.events import publish
from app.extensions import db

REOPENS_WITHIN = timedelta(minutes=10)  # A fault that comes and goes is one fault, with one message.
LONGEST_DETAIL = 1_000
LONGEST_SUBJECT = 200


@dataclass(frozen=True, slots=True)
class AlertRaised:
    cause: Cause
    site_id: int | None
    subject: str
    detail: str


@dataclass(frozen=True, slots=True)
class AlertEnded:
    cause: Cause
    site_id: int | None
    subject: str


def raise_alert(clock: Clock, cause: Cause, detail: str, site_id: int | None = None, subject: str = "") -> None:
    """Open the alert, or note that its fault was seen again. One that ended within REOPENS_WITHIN is opened again."""
    now = clock.now()
    if note_seen(cause, detail, site_id, subject, now, now):
        publish(AlertRaised(cause, site_id, subject, detail[:LONGEST_DETAIL]))


def note_seen(
    cause: Cause, detail: str, site_id: int | None, subject: str, first_seen_at: datetime, now: datetime
) -> bool:
    """Write an alert as `raise_alert` does, but publish nothing; return whether the alert was not open."""
    subject, detail = subject[:LONGEST_SUBJECT], detail[:LONGEST_DETAIL]
    alert = _open_or_just_ended(now, cause, site_id, subject)
    if alert is None:
        values = {"site_id": site_id, "cause": cause.key, "subject": subject, "detail": detail, "times": 1}
        statement = upsert(Alert).values(**values, first_seen_at=first_seen_at, last_seen_at=now)
        # Another process may have come first since; then this one saw the same.
        return bool(db.session.execute(statement.on_conflict_do_nothing()).rowcount)  # type: ignore[attr-defined]
    was_ended = alert.ended_at is not None
    alert.last_seen_at, alert.detail, alert.ended_at = now, detail, None
    alert.times += 1
    return was_ended


def _open_or_just_ended(now: datetime, cause: Cause, site_id: int | None, subject: str) -> Alert | None:
    query = select(Alert).where(*_identity(cause, site_id, subject), _is_of(now)).order_by(Alert.id.desc()).limit(1)
    return db.session.scalar(query.with_for_update().execution_options(populate_existing=True))


def was_notified(now: datetime, cause: Cause, subject: str) -> bool:
    """Whether the messages about an alert of the whole machine, open or just ended, were written already."""
    query = select(Alert.id).where(*_identity(cause, None, subject), _is_of(now), Alert.notified_at.is_not(None))
    return db.session.scalar(query.limit(1)) is not None


def note_notified(cause: Cause, site_id: int | None, subject: str, at: datetime) -> None:
    """Note that the open alert was sent before it was written, so that no message about it is written."""
    which = (*_identity(cause, site_id, subject), Alert.ended_at.is_(None), Alert.notified_at.is_(None))
    db.session.execute(update(Alert).where(*which).values(notified_at=at))


def end_alert(clock: Clock, cause: Cause, site_id: int | None = None, subject: str = "") -> None:
    """End the alert, if it is open."""
    subject = subject[:LONGEST_SUBJECT]
    query = select(Alert).where(*_identity(cause, site_id, subject), Alert.ended_at.is_(None))
    for alert in db.session.scalars(query.with_for_update().execution_options(populate_existing=True)):
        alert.ended_at = clock.now()
        publish(AlertEnded(cause, site_id, subject))
    db.session.flush()


def open_alerts(site_id: int | None) -> Sequence[Alert]:
    """Return the open alerts of a site, or with None those of the whole machine, the newest first."""
    query = select(Alert).where(Alert.site_id.is_not_distinct_from(site_id), Alert.ended_at.is_(None))
    return db.session.scalars(query.order_by(Alert.first_seen_at.desc(), Alert.id.desc())).all()


def open_about(*causes: Cause) -> Sequence[Alert]:
    """Return the open alerts about any of the causes, of all sites."""
    query = select(Alert).where(Alert.cause.in_([cause.key for cause in causes]), Alert.ended_at.is_(None))
    return db.session.scalars(query.order_by(Alert.id)).all()


def last_seen(cause: Cause, site_id: int | None = None, subject: str = "") -> datetime | None:
    """Return the time at which an alert was last seen; None where it is not open."""
    query = select(Alert.last_seen_at).where(*_identity(cause, site_id, subject), Alert.ended_at.is_(None))
    return db.session.scalar(query)


def _is_of(now: datetime) -> ColumnElement[bool]:
    """Return the condition that an alert is open, or would be opened again."""
    return Alert.ended_at.is_(None) | Alert.ended_at.between(now - REOPENS_WITHIN, now + REOPENS_WITHIN)


def _identity(cause: Cause, site_id: int | None, subject: str) -> tuple[ColumnElement[bool], ...]:
    return (
        Alert.cause == cause.key,
        Alert.subject == subject[:LONGEST_SUBJECT],
        Alert.site_id.is_not_distinct_from(site_id),
    )
