"""The open alerts as pages, JSON and metrics show them: those of the database and those that could not be written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError

from app.domain.alerts.alerts import open_alerts
from app.domain.alerts.causes import BY_KEY, Cause, Severity
from app.domain.alerts.models import Alert
from app.domain.alerts.unwritten import UnwrittenAlert, unwritten_alerts
from app.domain.shared.clock import Clock
from app.extensions import db


@dataclass(frozen=True, slots=True)
class OpenAlert:
    cause: Cause
    subject: str
    detail: str
    is_of_machine: bool
    first_seen_at: datetime
    last_seen_at: datetime

    @property
    def is_critical(self) -> bool:
        return self.cause.severity is Severity.CRITICAL


def alerts_of(clock: Clock, site_id: int, with_machine: bool) -> Sequence[OpenAlert]:
    """Return the open alerts of a site, and of the whole machine where they are wanted: the critical first, the newest
    of each before the older."""
    scopes = (site_id, None) if with_machine else (site_id,)
    found = {
        (alert.is_of_machine, alert.cause, alert.subject): alert
        for alert in (*_unwritten(clock, scopes), *(alert for scope in scopes for alert in _written(scope)))
    }
    newest_first = sorted(found.values(), key=lambda alert: alert.first_seen_at, reverse=True)
    return sorted(newest_first, key=lambda alert: not alert.is_critical)


def count_by_cause(clock: Clock) -> Mapping[Cause, int]:
    """Return how many alerts of each cause are open, of all sites and the machine. While the database is away, only
    those that could not be written are counted."""
    keys = {(alert.site_id, alert.cause.key, alert.subject) for alert in unwritten_alerts(clock)}
    with suppress(SQLAlchemyError):
        query = select(Alert.site_id, Alert.cause, Alert.subject).where(Alert.ended_at.is_(None))
        keys.update((row.site_id, row.cause, row.subject) for row in db.session.execute(query))
    return Counter(BY_KEY[key] for _, key, _ in keys if key in BY_KEY)


def _unwritten(clock: Clock, scopes: Sequence[int | None]) -> list[OpenAlert]:
    return [_open(alert.cause, alert) for alert in unwritten_alerts(clock) if alert.site_id in scopes]


def _written(site_id: int | None) -> list[OpenAlert]:
    """Return the open alerts without those of an earlier version, whose cause is not known any more."""
    return [_open(BY_KEY[alert.cause], alert) for alert in open_alerts(site_id) if alert.cause in BY_KEY]


def _open(cause: Cause, alert: Alert | UnwrittenAlert) -> OpenAlert:
    seen = alert.first_seen_at, alert.last_seen_at
    return OpenAlert(cause, alert.subject, alert.detail, alert.site_id is None, *seen)
