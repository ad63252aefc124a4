"""Events that must be followed up whatever dies: rows written in the transaction of what happened.

app/jobs/events.py delivers them, at least once; the row goes in the transaction of its follow-up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select

from app.domain.shared.clock import Clock
from app.domain.sites.models import StoredEvent
from app.events import publish
from app.extensions import db

LONGEST_ERROR = 2_000
FIRST_PAUSE = timedelta(seconds=5)  # After a failure; it doubles with each further one.
LONGEST_PAUSES = 12  # Failures after which the pause grows no more: about six hours.


@dataclass(frozen=True, slots=True)
class EventsStored:
    """Wakes whoever delivers."""

    site_id: int


def store(clock: Clock, site_id: int, name: str, payload: Mapping[str, Any]) -> None:
    """Note what happened. Call it in the transaction in which it happens."""
    db.session.add(StoredEvent(site_id=site_id, name=name, payload=dict(payload), attempts=0, created_at=clock.now()))
    publish(EventsStored(site_id))


def waiting(clock: Clock, at_least: timedelta = timedelta(0)) -> list[int]:
    """The ids of events that are to be tried now, in the order in which they happened: those that have waited so long,
    and among those that failed the ones whose pause is over."""
    now = clock.now()
    query = select(StoredEvent.id, StoredEvent.created_at, StoredEvent.attempts)
    rows = db.session.execute(query.where(StoredEvent.created_at <= now - at_least).order_by(StoredEvent.id))
    return [event_id for event_id, created_at, attempts in rows if _is_due(created_at, attempts, now)]


def _is_due(created_at: datetime, attempts: int, now: datetime) -> bool:
    """The age of an event says when its next try is, since pauses double: 5, 10, 20 seconds after the first."""
    return attempts == 0 or now - created_at >= FIRST_PAUSE * 2 ** min(attempts - 1, LONGEST_PAUSES)


def take(event_id: int) -> StoredEvent | None:
    """The event, locked until the transaction ends; None when it was delivered already or somebody delivers it now."""
    return db.session.scalar(select(StoredEvent).where(StoredEvent.id == event_id).with_for_update(skip_locked=True))


def finish(event_id: int) -> None:
    """Followed up. Call it in the transaction of the follow-up."""
    event = db.session.get(StoredEvent, event_id)
    if event is not None:
        db.session.delete(event)


def fail(event_id: int, error: str) -> None:
    """Not followed up; it is tried again after a pause."""
    event = db.session.get(StoredEvent, event_id, with_for_update=True)
    if event is not None:
        event.attempts += 1
        event.error = error[:LONGEST_ERROR]
