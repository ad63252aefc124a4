"""The machines of the shop: registered at their start, seen by their heartbeat, listed. Call the writing functions in a
transaction."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import func, select, text, update

from app.domain.machines.coexistence import MachineFacts
from app.domain.machines.models import Machine
from app.domain.shared.clock import Clock
from app.domain.shared.records import upsert
from app.extensions import db

BETWEEN_BEATS = timedelta(seconds=10)
SILENT_AFTER = timedelta(seconds=60)  # A scheduler that is busy, or was started again, beats within that.
FORGOTTEN_AFTER = timedelta(days=7)  # Since it was last seen.


def lock_machines() -> None:
    """Let no other machine register until the end of the transaction, so that of two that start at once one sees the
    other. On SQLite every transaction that writes has that."""
    if db.session.get_bind().dialect.name == "postgresql":
        db.session.execute(text("LOCK TABLE machines IN SHARE ROW EXCLUSIVE MODE"))


def register(clock: Clock, machine_id: str, facts: MachineFacts) -> None:
    """Note that a machine with these facts started now."""
    now = clock.now()
    columns = {
        "name": facts.name[:255],
        "release": facts.release[:40],
        "engine": facts.engine,
        "database": facts.database,
        "pictures": facts.pictures,
        "started_at": now,
        "seen_at": now,
    }
    inserted = upsert(Machine).values(id=machine_id, **columns)
    db.session.execute(inserted.on_conflict_do_update(index_elements=["id"], set_=columns))


def beat(clock: Clock, machine_id: str) -> bool:
    """Note that a machine runs; return False for one that is not registered."""
    result = db.session.execute(update(Machine).where(Machine.id == machine_id).values(seen_at=clock.now()))
    return bool(result.rowcount)  # type: ignore[attr-defined]


def all_machines() -> Sequence[Machine]:
    """Return the machines that are known, the oldest first."""
    query = select(Machine).order_by(Machine.started_at, Machine.id)
    return db.session.scalars(query.execution_options(populate_existing=True)).all()


def running_machines(clock: Clock) -> list[Machine]:
    """Return the machines that were seen lately: one that died a moment ago is among them."""
    return [machine for machine in all_machines() if is_recent(clock, machine.seen_at)]


def is_recent(clock: Clock, seen_at: datetime) -> bool:
    """Whether a machine that was seen then may still run. A time in the future is of a clock that was wrong."""
    return abs(clock.now() - seen_at) <= SILENT_AFTER


def last_seen(machine_id: str) -> datetime | None:
    """Return when a machine was last seen; None for one that is not known."""
    return db.session.scalar(select(Machine.seen_at).where(Machine.id == machine_id))


def label_of(machine_id: str) -> str | None:
    """Return the name that distinguishes a machine from the others; None where it is the only one, or not known."""
    if not machine_id or (db.session.scalar(select(func.count()).select_from(Machine)) or 0) < 2:
        return None
    return db.session.scalar(select(Machine.name).where(Machine.id == machine_id))


def forgettable(clock: Clock) -> list[str]:
    """Return the ids of the machines that were not seen for so long that they will not come back."""
    query = select(Machine.id).where(Machine.seen_at < clock.now() - FORGOTTEN_AFTER)
    return list(db.session.scalars(query))
