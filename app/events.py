"""Events: a context publishes, app/subscribers.py says what follows.

An event published within a transaction waits for its commit and is dropped when it rolls back. What
must not be lost even when the process dies right after the commit goes into a table, not into an event
(docs/after-commit.md).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from app.extensions import db

E = TypeVar("E")
PENDING = "pending_events"
_subscribers: dict[type, list[Callable[[Any], object]]] = {}


def subscribe(event_type: type[E], handler: Callable[[E], object]) -> None:
    """Have `handler` called with each event of the type. It must not raise: the change is committed already, and the
    subscribers after it would not be called."""
    handlers = _subscribers.setdefault(event_type, [])
    if handler not in handlers:
        handlers.append(handler)


def publish(event: object) -> None:
    db.session.info.setdefault(PENDING, []).append(event)


def dispatch(events: list[object]) -> None:
    """Call the subscribers; equal events of one transaction count once."""
    for event in dict.fromkeys(events):
        for handler in _subscribers.get(type(event), []):
            handler(event)
