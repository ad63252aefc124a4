"""Alerts that cannot be written now: outside a transaction, or while the database is full or away. They are kept in
the memory of this process, bounded, and written once a transaction succeeds. Those of the machine that stay unwritten
are sent from here (app/jobs/alerts.py)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from app.domain.alerts.alerts import REOPENS_WITHIN, AlertRaised, note_notified, note_seen
from app.domain.alerts.causes import Cause
from app.domain.alerts.log_lines import log_raised
from app.domain.shared.clock import Clock

MOST = 100
SENT_AFTER = timedelta(seconds=30)  # A database that is only busy takes the alert before.
BETWEEN_TRIES = timedelta(minutes=5)
OVER_ONCE_WRITTEN = (Cause.DATABASE_IO_ERROR, Cause.DISK_FULL)  # That this process can write again is their end.


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


Key = tuple[Cause, int | None, str]
_unwritten: dict[Key, UnwrittenAlert] = {}
_logged_at: dict[Key, datetime] = {}
_lock = threading.Lock()


def note_alert(clock: Clock, cause: Cause, detail: str, site_id: int | None = None, subject: str = "") -> None:
    """Log the alert at once, unless it was logged within REOPENS_WITHIN, and keep it for `write_unwritten`. Never
    raises."""
    key, now = (cause, site_id, subject), clock.now()
    with _lock:
        known = _unwritten.get(key)
        if known is None and len(_unwritten) >= MOST:
            return
        known = known or UnwrittenAlert(cause, detail, site_id, subject, now, now)
        _unwritten[key] = replace(known, detail=detail, last_seen_at=now)
        was_logged = _was_logged(key, now)
    if not was_logged:
        log_raised(AlertRaised(cause, site_id, subject, detail))


def _was_logged(key: Key, now: datetime) -> bool:
    """Whether an alert was logged within REOPENS_WITHIN, or MOST others were; if not, note that it is logged now."""
    for old in [other for other, at in _logged_at.items() if abs(now - at) >= REOPENS_WITHIN]:
        del _logged_at[old]
    if key in _logged_at or len(_logged_at) >= MOST:
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
    """Return the alerts of the machine that the database has refused for a while, and that are to be sent now."""
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
    key = alert.cause, alert.site_id, alert.subject
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
                note_seen(alert.cause, alert.detail, alert.site_id, alert.subject, *seen)
                if alert.missing == frozenset() and alert.tried_at:
                    note_notified(alert.cause, alert.site_id, alert.subject, alert.tried_at)
    except IntegrityError:
        return  # Their site is gone; they stand in the log.
    except SQLAlchemyError:
        with _lock:
            _unwritten.update({**alerts, **_unwritten})
