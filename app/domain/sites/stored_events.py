"""Stored events, delivered at least once: rows written in the transaction of what happened.

app/jobs/events.py delivers them; a row is deleted in the transaction of its handler.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, or_, select

from app.domain.shared.clock import Clock
from app.domain.sites.models import StoredEvent
from app.events import publish
from app.extensions import db

LONGEST_ERROR = 2_000
FIRST_PAUSE = timedelta(seconds=5)  # After a failure; it doubles with each further one.
MOST_DOUBLINGS = 12  # Of the pause: it grows to about six hours.
LONGEST_PAUSE = FIRST_PAUSE * 2**MOST_DOUBLINGS


@dataclass(frozen=True, slots=True)
class EventsStored:
    """Events were stored for a site, which wakes the delivery job."""

    site_id: int


def store(clock: Clock, site_id: int, name: str, payload: Mapping[str, Any]) -> None:
    """Store an event. Call it in the transaction in which it happens."""
    now = clock.now()
    event = StoredEvent(site_id=site_id, name=name, payload=dict(payload), attempts=0, created_at=now, next_try_at=now)
    db.session.add(event)
    publish(EventsStored(site_id))


def waiting(clock: Clock, at_least: timedelta = timedelta(0)) -> list[int]:
    """Return the ids of events that are to be tried now, in the order in which they happened: those that were stored at
    least so long ago, and whose pause after a failure is over."""
    now = clock.now()
    has_waited = or_(StoredEvent.created_at <= now - at_least, StoredEvent.created_at > now + LONGEST_PAUSE)
    query = select(StoredEvent.id).where(has_waited, _may_be_tried(now))
    return list(db.session.scalars(query.order_by(StoredEvent.id)))


def is_waiting(site_id: int, name: str) -> bool:
    """Whether an event of this name waits to be delivered for a site."""
    query = select(StoredEvent.id).where(StoredEvent.site_id == site_id, StoredEvent.name == name)
    return db.session.scalar(query.limit(1)) is not None


def take(clock: Clock, event_id: int) -> StoredEvent | None:
    """Claim an event, locked until the transaction ends; None when it was delivered already, another worker delivers
    it now, or its pause after a failure is not over."""
    due = StoredEvent.id == event_id, _may_be_tried(clock.now())
    return db.session.scalar(select(StoredEvent).where(*due).with_for_update(skip_locked=True))


def _may_be_tried(now: datetime) -> ColumnElement[bool]:
    """Return the condition that the pause of an event is over, or was set while the clock was ahead."""
    return or_(StoredEvent.next_try_at <= now, StoredEvent.next_try_at > now + LONGEST_PAUSE)


def finish(event_id: int) -> None:
    """Delete a handled event. Call it in the transaction of its handler."""
    event = db.session.get(StoredEvent, event_id)
    if event is not None:
        db.session.delete(event)


def fail(clock: Clock, event_id: int, error: str) -> None:
    """Note a failed delivery; it is retried after a pause from now."""
    event = db.session.get(StoredEvent, event_id, with_for_update=True)
    if event is not None:
        event.next_try_at = clock.now() + FIRST_PAUSE * 2 ** min(event.attempts, MOST_DOUBLINGS)
        event.attempts += 1
        event.error = error[:LONGEST_ERROR]
