"""Events that must be followed up whatever dies: rows written in the transaction of what happened.

app/jobs/events.py delivers them, at least once; the row goes in the transaction of its follow-up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import select

from app.domain.shared.clock import Clock
from app.domain.sites.models import StoredEvent
from app.events import publish
from app.extensions import db

LONGEST_ERROR = 2_000
FIRST_PAUSE = timedelta(seconds=5)  # After a failure; it doubles with each further one.
MOST_DOUBLINGS = 12  # Of the pause: it grows to about six hours.


@dataclass(frozen=True, slots=True)
class EventsStored:
    """Wakes whoever delivers."""

    site_id: int


def store(clock: Clock, site_id: int, name: str, payload: Mapping[str, Any]) -> None:
    """Note what happened. Call it in the transaction in which it happens."""
    now = clock.now()
    event = StoredEvent(site_id=site_id, name=name, payload=dict(payload), attempts=0, created_at=now, next_try_at=now)
    db.session.add(event)
    publish(EventsStored(site_id))


def waiting(clock: Clock, at_least: timedelta = timedelta(0)) -> list[int]:
    """The ids of events that are to be tried now, in the order in which they happened: those that have waited so long,
    and among those that failed the ones whose pause is over."""
    now = clock.now()
    due = StoredEvent.created_at <= now - at_least, StoredEvent.next_try_at <= now
    return list(db.session.scalars(select(StoredEvent.id).where(*due).order_by(StoredEvent.id)))


def take(clock: Clock, event_id: int) -> StoredEvent | None:
    """The event, locked until the transaction ends; None when it was delivered already, somebody delivers it now, or
    has failed to a moment ago."""
    due = StoredEvent.id == event_id, StoredEvent.next_try_at <= clock.now()
    return db.session.scalar(select(StoredEvent).where(*due).with_for_update(skip_locked=True))


def finish(event_id: int) -> None:
    """Followed up. Call it in the transaction of the follow-up."""
    event = db.session.get(StoredEvent, event_id)
    if event is not None:
        db.session.delete(event)


def fail(clock: Clock, event_id: int, error: str) -> None:
    """Not followed up; it is tried again after a pause, counted from now."""
    event = db.session.get(StoredEvent, event_id, with_for_update=True)
    if event is not None:
        event.next_try_at = clock.now() + FIRST_PAUSE * 2 ** min(event.attempts, MOST_DOUBLINGS)
        event.attempts += 1
        event.error = error[:LONGEST_ERROR]
