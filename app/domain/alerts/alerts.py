"""Alerts: raised and ended, listed, and kept in memory while they cannot be written. At most one is open for a site
(None: the whole shop), a machine (empty: none of them), a cause and a subject. Details are read by the owner and sent
by mail: they hold nothing personal and no secret.

What raises, ends and reads alerts is called in a transaction. `note_alert` is for where there is none, or the database
is full or away: its alerts are kept in the memory of this process, bounded, and written once a transaction succeeds.
Those without a site that stay unwritten are sent from there (app/jobs/alerts.py).
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import structlog
from sqlalchemy import ColumnElement, select, update
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from app.domain.alerts.causes import BY_KEY, OF_A_MACHINE, Cause, Severity
from app.domain.alerts.models import Alert
from app.domain.machines.machines import label_of
from app.domain.shared.clock import Clock
from app.domain.shared.records import upsert
from app.events import publish
from app.extensions import db

log = structlog.get_logger()
REOPENS_WITHIN = timedelta(minutes=10)  # A fault that comes and goes is one fault, with one message.
LONGEST_DETAIL = 1_000
LONGEST_SUBJECT = 200
MOST_UNWRITTEN = 100
SENT_AFTER = timedelta(seconds=30)  # A database that is only busy takes the alert before.
BETWEEN_TRIES = timedelta(minutes=5)
OVER_ONCE_WRITTEN = (Cause.DATABASE_IO_ERROR, Cause.DISK_FULL)  # That this process can write again is their end.


@dataclass(frozen=True, slots=True)
class AlertRaised:
    cause: Cause
    site_id: int | None
    subject: str
    detail: str
    machine: str = ""


@dataclass(frozen=True, slots=True)
class AlertEnded:
    cause: Cause
    site_id: int | None
    subject: str
    machine: str = ""


@dataclass(frozen=True, slots=True)
class UnwrittenAlert:
    """An alert that the database did not take. `missing` are the channels that have not taken it yet, None before the
    first try."""

    cause: Cause
    detail: str
    site_id: int | None
    subject: str
    first_seen_at: datetime
    last_seen_at: datetime
    missing: frozenset[str] | None = None
    tried_at: datetime | None = None
    machine: str = ""


@dataclass(frozen=True, slots=True)
class OpenAlert:
    """An open alert as pages show it. `machine` is the name of the machine that has the fault, where there are
    several."""

    cause: Cause
    subject: str
    detail: str
    is_of_machine: bool
    first_seen_at: datetime
    last_seen_at: datetime
    machine: str | None = None

    @property
    def is_critical(self) -> bool:
        return self.cause.severity is Severity.CRITICAL


AlertKey = tuple[Cause, int | None, str, str]
_unwritten: dict[AlertKey, UnwrittenAlert] = {}
_logged_at: dict[AlertKey, datetime] = {}
_lock = threading.Lock()


def log_raised(event: AlertRaised) -> None:
    cause = event.cause
    fields = {"cause": cause.key, "severity": cause.severity.value, "site": event.site_id, "subject": event.subject}
    log.error("alert_raised", **fields, machine=event.machine, detail=event.detail)


def log_ended(event: AlertEnded) -> None:
    fields = {"cause": event.cause.key, "site": event.site_id, "subject": event.subject}
    log.warning("alert_ended", **fields, machine=event.machine)


def raise_alert(
    clock: Clock, cause: Cause, detail: str, site_id: int | None = None, subject: str = "", machine: str = ""
) -> None:
    """Open the alert, or note that its fault was seen again. One that ended within REOPENS_WITHIN is opened again."""
    now = clock.now()
    if note_seen(cause, detail, site_id, subject, now, now, machine):
        publish(AlertRaised(cause, site_id, subject, detail[:LONGEST_DETAIL], machine))


def note_seen(
    cause: Cause,
    detail: str,
    site_id: int | None,
    subject: str,
    first_seen_at: datetime,
    now: datetime,
    machine: str = "",
) -> bool:
    """Write an alert as `raise_alert` does, but publish nothing; return whether the alert was not open."""
    subject, detail = subject[:LONGEST_SUBJECT], detail[:LONGEST_DETAIL]
    alert = _open_or_just_ended(now, _identity(cause, site_id, subject, machine))
    if alert is None:
        values = {"site_id": site_id, "machine": machine, "cause": cause.key, "subject": subject, "detail": detail}
        statement = upsert(Alert).values(**values, times=1, first_seen_at=first_seen_at, last_seen_at=now)
        # Another process may have come first since; then this one saw the same.
        return db.session.scalar(statement.on_conflict_do_nothing().returning(Alert.id)) is not None
    was_ended = alert.ended_at is not None
    alert.last_seen_at, alert.detail, alert.ended_at = now, detail, None
    alert.times += 1
    return was_ended


def _open_or_just_ended(now: datetime, identity: tuple[ColumnElement[bool], ...]) -> Alert | None:
    query = select(Alert).where(*identity, _is_open_or_just_ended(now)).order_by(Alert.id.desc()).limit(1)
    return db.session.scalar(query.with_for_update().execution_options(populate_existing=True))


def was_notified(now: datetime, cause: Cause, subject: str, machine: str = "") -> bool:
    """Whether the messages about an alert without a site, open or just ended, were written already."""
    query = select(Alert.id).where(
        *_identity(cause, None, subject, machine), _is_open_or_just_ended(now), Alert.notified_at.is_not(None)
    )
    return db.session.scalar(query.limit(1)) is not None


def note_notified(cause: Cause, site_id: int | None, subject: str, at: datetime, machine: str = "") -> None:
    """Note that the open alert was sent before it was written, so that no message about it is written."""
    which = (*_identity(cause, site_id, subject, machine), Alert.ended_at.is_(None), Alert.notified_at.is_(None))
    db.session.execute(update(Alert).where(*which).values(notified_at=at))


def end_alert(clock: Clock, cause: Cause, site_id: int | None = None, subject: str = "", machine: str = "") -> None:
    """End the alert, if it is open."""
    subject = subject[:LONGEST_SUBJECT]
    query = select(Alert).where(*_identity(cause, site_id, subject, machine), Alert.ended_at.is_(None))
    for alert in db.session.scalars(query.with_for_update().execution_options(populate_existing=True)):
        alert.ended_at = clock.now()
        publish(AlertEnded(cause, site_id, subject, machine))
    db.session.flush()


def end_alerts_of_machine(clock: Clock, machine: str) -> None:
    """End the open alerts of a machine, which is forgotten."""
    for alert in _open_on_machine(machine):
        if alert.cause in BY_KEY:
            end_alert(clock, BY_KEY[alert.cause], alert.site_id, alert.subject, machine)


def adopt_alerts(clock: Clock, machine: str) -> None:
    """Make the open alerts that are of a machine by their cause, and that a release before machines raised, those of
    this machine; one that it has already ends."""
    known = {(alert.cause, alert.subject) for alert in _open_on_machine(machine)}
    for alert in _open_on_machine(""):
        cause = BY_KEY.get(alert.cause)
        if alert.site_id is not None or cause not in OF_A_MACHINE:
            continue
        if (alert.cause, alert.subject) in known:
            end_alert(clock, cause, None, alert.subject)
        else:
            alert.machine = machine
    db.session.flush()


def _open_on_machine(machine: str) -> Sequence[Alert]:
    query = select(Alert).where(Alert.machine == machine, Alert.ended_at.is_(None)).order_by(Alert.id)
    return db.session.scalars(query.with_for_update().execution_options(populate_existing=True)).all()


def open_alerts(site_id: int | None) -> Sequence[Alert]:
    """Return the open alerts of a site, or with None those of the whole shop and of machines, the newest first."""
    query = select(Alert).where(Alert.site_id.is_not_distinct_from(site_id), Alert.ended_at.is_(None))
    return db.session.scalars(query.order_by(Alert.first_seen_at.desc(), Alert.id.desc())).all()


def open_about(*causes: Cause) -> Sequence[Alert]:
    """Return the open alerts about any of the causes, of all sites."""
    query = select(Alert).where(Alert.cause.in_([cause.key for cause in causes]), Alert.ended_at.is_(None))
    return db.session.scalars(query.order_by(Alert.id)).all()


def last_seen(cause: Cause, site_id: int | None = None, subject: str = "", machine: str = "") -> datetime | None:
    """Return the time at which an alert was last seen; None where it is not open."""
    query = select(Alert.last_seen_at).where(*_identity(cause, site_id, subject, machine), Alert.ended_at.is_(None))
    return db.session.scalar(query)


def _is_open_or_just_ended(now: datetime) -> ColumnElement[bool]:
    """Return the condition that an alert is open, or would be opened again."""
    return Alert.ended_at.is_(None) | Alert.ended_at.between(now - REOPENS_WITHIN, now + REOPENS_WITHIN)


def _identity(cause: Cause, site_id: int | None, subject: str, machine: str) -> tuple[ColumnElement[bool], ...]:
    return (
        Alert.cause == cause.key,
        Alert.machine == machine,
        Alert.subject == subject[:LONGEST_SUBJECT],
        Alert.site_id.is_not_distinct_from(site_id),
    )


def note_alert(
    clock: Clock, cause: Cause, detail: str, site_id: int | None = None, subject: str = "", machine: str = ""
) -> None:
    """Log the alert at once, unless it was logged within REOPENS_WITHIN, and keep it for `write_unwritten`. Never
    raises."""
    key, now = (cause, site_id, subject, machine), clock.now()
    with _lock:
        known = _unwritten.get(key)
        if known is None and len(_unwritten) >= MOST_UNWRITTEN:
            return
        known = known or UnwrittenAlert(cause, detail, site_id, subject, now, now, machine=machine)
        _unwritten[key] = replace(known, detail=detail, last_seen_at=now)
        was_logged = _was_logged(key, now)
    if not was_logged:
        log_raised(AlertRaised(cause, site_id, subject, detail, machine))


def _was_logged(key: AlertKey, now: datetime) -> bool:
    """Whether an alert was logged within REOPENS_WITHIN, or MOST_UNWRITTEN others were; if not, note that it is logged
    now."""
    for old in [other for other, at in _logged_at.items() if abs(now - at) >= REOPENS_WITHIN]:
        del _logged_at[old]
    if key in _logged_at or len(_logged_at) >= MOST_UNWRITTEN:
        return True
    _logged_at[key] = now
    return False


def unwritten_alerts(clock: Clock) -> Sequence[UnwrittenAlert]:
    """Return the unwritten alerts that were seen within REOPENS_WITHIN, since nothing would end one that is over by
    now; those about writing itself until a write succeeds."""
    now = clock.now()
    with _lock:
        return [
            alert
            for alert in _unwritten.values()
            if alert.cause in OVER_ONCE_WRITTEN or abs(now - alert.last_seen_at) < REOPENS_WITHIN
        ]


def due_unwritten(clock: Clock) -> Sequence[UnwrittenAlert]:
    """Return the alerts without a site that the database has refused for a while, and that are to be sent now."""
    now = clock.now()
    return [
        alert
        for alert in unwritten_alerts(clock)
        if alert.site_id is None
        and abs(now - alert.first_seen_at) >= SENT_AFTER
        and alert.missing != frozenset()
        and (alert.tried_at is None or abs(now - alert.tried_at) >= BETWEEN_TRIES)
    ]


def note_tried(clock: Clock, alert: UnwrittenAlert, missing: frozenset[str]) -> None:
    key = alert.cause, alert.site_id, alert.subject, alert.machine
    with _lock:
        if key in _unwritten:
            _unwritten[key] = replace(_unwritten[key], missing=missing, tried_at=clock.now())


def write_unwritten(transaction: Callable[[], AbstractContextManager[None]]) -> None:
    """Write all unwritten alerts, if there are any, in a transaction of their own; where that fails they stay for the
    next time. Never raises: it follows another transaction, which is done."""
    if not _unwritten:
        return
    with _lock:
        alerts = dict(_unwritten)
        _unwritten.clear()
    try:
        with transaction():
            for alert in alerts.values():
                seen = alert.first_seen_at, alert.last_seen_at
                note_seen(alert.cause, alert.detail, alert.site_id, alert.subject, *seen, alert.machine)
                if alert.missing == frozenset() and alert.tried_at:
                    note_notified(alert.cause, alert.site_id, alert.subject, alert.tried_at, alert.machine)
    except IntegrityError:
        return  # Their site is gone; they stand in the log.
    except SQLAlchemyError:
        with _lock:
            _unwritten.update({**alerts, **_unwritten})


def alerts_of(clock: Clock, site_id: int, with_machine: bool) -> Sequence[OpenAlert]:
    """Return the open alerts of a site, and those of the whole shop and of machines where they are wanted: the critical
    first, the newest of each before the older."""
    scopes = (site_id, None) if with_machine else (site_id,)
    found = {
        (alert.is_of_machine, alert.machine, alert.cause, alert.subject): alert
        for alert in (*_list_unwritten(clock, scopes), *(alert for scope in scopes for alert in _list_written(scope)))
    }
    newest_first = sorted(found.values(), key=lambda alert: alert.first_seen_at, reverse=True)
    return sorted(newest_first, key=lambda alert: not alert.is_critical)


def count_by_cause(clock: Clock) -> Mapping[Cause, int]:
    """Return how many alerts of each cause are open, of all sites and machines. While the database is away, only those
    that could not be written are counted."""
    keys = {(alert.site_id, alert.machine, alert.cause.key, alert.subject) for alert in unwritten_alerts(clock)}
    with suppress(SQLAlchemyError):
        query = select(Alert.site_id, Alert.machine, Alert.cause, Alert.subject).where(Alert.ended_at.is_(None))
        keys.update((row.site_id, row.machine, row.cause, row.subject) for row in db.session.execute(query))
    return Counter(BY_KEY[key] for _, _, key, _ in keys if key in BY_KEY)


def _list_unwritten(clock: Clock, scopes: Sequence[int | None]) -> list[OpenAlert]:
    return [_open_alert(alert.cause, alert) for alert in unwritten_alerts(clock) if alert.site_id in scopes]


def _list_written(site_id: int | None) -> list[OpenAlert]:
    """Return the open alerts without those of an earlier version, whose cause is not known any more."""
    return [_open_alert(BY_KEY[alert.cause], alert) for alert in open_alerts(site_id) if alert.cause in BY_KEY]


def _open_alert(cause: Cause, alert: Alert | UnwrittenAlert) -> OpenAlert:
    seen = alert.first_seen_at, alert.last_seen_at
    return OpenAlert(cause, alert.subject, alert.detail, alert.site_id is None, *seen, label_of(alert.machine))
