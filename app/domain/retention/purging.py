"""The purge of records that are kept only for a time, one for all of them. Each context declares what it keeps how
long; app/jobs/purging.py has the list. Call it in a transaction.

Where the clock is wrong unnoticed, everything looks old; the allowance keeps most of it until that is noticed. Where
much is old for a good reason, it goes within a few nights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Delete, Update, delete, func, select, true, tuple_, update
from sqlalchemy import inspect as columns_of
from sqlalchemy.orm import InstrumentedAttribute

from app.domain.alerts.alerts import end_alert, raise_alert
from app.domain.alerts.causes import Cause
from app.domain.shared.clock import Clock
from app.extensions import db

Dated = ColumnElement[Any] | InstrumentedAttribute[Any]
EVERYTHING = true()
SHARE = 4  # A quarter; a shop that is in use loses a ninetieth of its counts in a night.
FEW = 20  # Of a handful of records even all may be old.
OVERDUE = timedelta(days=30)  # Records that should have been removed that long ago are waiting for a person.


def _nothing(_now: datetime) -> None: ...


@dataclass(frozen=True, slots=True)
class Retention:
    """A kind of record that is kept only for a time. `is_old` returns the condition of the records that may be removed
    at a time, `dated` is the column that orders them; `among` limits the records that count at all. `emptied`: the
    record stays, and its columns get these values. `prepare` runs before. Of `bookkeeping`, which nobody would miss,
    all may go at once."""

    name: str
    model: type[Any]
    dated: Dated
    is_old: Callable[[datetime], ColumnElement[bool]]
    among: ColumnElement[bool] = EVERYTHING
    emptied: Mapping[str, Any] | None = None
    prepare: Callable[[datetime], None] = _nothing
    bookkeeping: bool = False


@dataclass(frozen=True, slots=True)
class Purged:
    """The outcome of a purge for the records of one retention: `kept` counts all, `old` those that may be removed.
    `is_overdue`: some that wait for the next purge should have been removed long ago."""

    name: str
    kept: int
    old: int
    removed: int
    is_overdue: bool


def purge(clock: Clock, retentions: Iterable[Retention], is_confirmed: bool = False) -> list[Purged]:
    """Remove old records, the oldest first, and no more at once than `most_at_once` allows without a person's
    confirmation."""
    return [_purge(clock, retention, is_confirmed) for retention in retentions]


def most_at_once(kept: int) -> int:
    """Return how many of `kept` records one purge may remove."""
    return max(FEW, kept // SHARE)


def _purge(clock: Clock, retention: Retention, is_confirmed: bool) -> Purged:
    now = clock.now()
    retention.prepare(now)
    kept, old = _count(retention, EVERYTHING), _count(retention, retention.is_old(now))
    most = old if is_confirmed or retention.bookkeeping else most_at_once(kept)
    removed = _remove(retention, now, most if old > most else None) if old else 0
    is_overdue = removed < old and _count(retention, retention.is_old(now - OVERDUE)) > 0
    purged = Purged(retention.name, kept, old, removed, is_overdue)
    note_blocked_purge(clock, purged)
    return purged


def note_blocked_purge(clock: Clock, purged: Purged, site_id: int | None = None) -> None:
    """Raise an alert while records wait that should have been removed long ago, and end it when none do."""
    if purged.is_overdue:
        detail = f"Of {purged.kept:,} {purged.name}, {purged.old:,} are old; {purged.removed:,} of them were removed."
        raise_alert(clock, Cause.PURGE_BLOCKED, detail, site_id, purged.name)
    else:
        end_alert(clock, Cause.PURGE_BLOCKED, site_id, purged.name)


def _count(retention: Retention, which: ColumnElement[bool]) -> int:
    query = select(func.count()).select_from(retention.model).where(retention.among, which)
    return db.session.scalar(query) or 0


def _remove(retention: Retention, now: datetime, most: int | None) -> int:
    """Remove the oldest `most` of the old records, None for all of them; return how many were removed."""
    which = [retention.among, retention.is_old(now)]
    if most is not None:
        key = columns_of(retention.model).primary_key
        oldest = select(*key).where(*which).order_by(retention.dated, *key).limit(most).correlate(None)
        which = [tuple_(*key).in_(oldest) if len(key) > 1 else key[0].in_(oldest)]
    statement: Delete | Update = delete(retention.model).where(*which)
    if retention.emptied is not None:
        statement = update(retention.model).where(*which).values(retention.emptied)
    result = db.session.execute(statement, execution_options={"synchronize_session": False})
    return result.rowcount  # type: ignore[attr-defined, no-any-return]
